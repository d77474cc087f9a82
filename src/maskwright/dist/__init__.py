"""Serving with more than one engine: which replica serves a request, and one address for all.
docs/scale.md explains it.

- `front/`: The router over HTTP: one address in front of several servers.
- `handoff/`: A running request that moves to another engine, with its keys and values.
- `routing/`: The choice of a replica for a request, as a pure function of the replicas' states.
- `content_coding`: Bodies that a client has compressed.
- `drain`: Whether a server still takes new requests.
- `engine_group`: Several engines of one process, among which the router chooses.
"""
