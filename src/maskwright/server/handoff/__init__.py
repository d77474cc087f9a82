"""The two sides of a hand-off over HTTP: one server computes the prompt of a request, another one
goes on with its answer. docs/scale.md describes it.

- `incoming`: Takes blocks of keys and values that another server sends.
- `outgoing`: Sends the blocks of a request to another server, and tells what it has begun.
"""
