"""The hand-off of a running request from one engine to another: its tokens, parameters and seed, its
grammar by name, and those blocks of keys and values that the other engine lacks.

- `move`: Hands a request over between two engines of this process.
- `pieces`: Blocks as bytes with checksums: whole, by layer or by chunk.
- `request_record`: A request as bytes.
"""
