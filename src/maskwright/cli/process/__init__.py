"""What a command sets up for its whole process.

- `collector`: Python's garbage collector in a server.
- `environment`: The environment of the process, as it must be before torch is loaded.
- `logs`: The log of `serve`.
"""
