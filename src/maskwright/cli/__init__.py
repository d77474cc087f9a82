"""The command line: `maskwright serve | check | generate | convert | bench`, a module a command.

- `load/`: Load for `maskwright bench serve`, and what is measured of it.
- `output/`: How the commands show things: tables within a width, places in a text.
- `process/`: What a command sets up for its whole process.
- `bench`: The command `bench`: measure a running server under load.
- `check`: The command `check`: say whether texts match a shape, and where they do not.
- `convert`: The command `convert`: write a grammar in another dialect.
- `generate`: The command `generate`: print one answer that has a shape.
- `inputs`: Reads files, standard input and text given as arguments.
- `options`: Options that several commands share.
- `program`: The program: its commands and its errors.
- `serve`: The command `serve`: serve a model over HTTP.
- `shapes`: The shape given on the command line: schema, grammar or pattern.
- `shipped`: The schemas and grammars that ship with the package, by name.
- `walk`: A text walked through a grammar byte by byte.
"""

from maskwright.cli.program import main

__all__ = ["main"]
