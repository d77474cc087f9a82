"""The hand-off of a running request from one engine to another: its tokens, parameters and seed,
its grammar by name, and those blocks of keys and values that the other engine lacks.

- `http_names`: Headers and paths of a hand-off between servers.
- `move`: Hands a request over between two engines of this process.
- `pieces`: Blocks as bytes with checksums: whole, by layer or by chunk; and the head of
  a message of them.
"""
