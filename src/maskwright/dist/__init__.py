"""Serving with more than one engine: which replica serves a request. docs/scale.md explains it.

- `routing/`: The choice of a replica for a request, as a pure function of the replicas' states.
"""
