"""The commands that see, test and change a shape. None of them imports torch or the server.

- `check`: The command `check`: say whether texts match a shape, and where they do not.
- `convert`: The command `convert`: write a grammar in another dialect.
"""
