"""The command line: `maskwright serve | check | generate | convert | bench`.

- `load/`: Load on a running server, and what it makes of it: `maskwright bench serve`.
- `process/`: What a command sets up for its whole process.
- `bench`: Measure a running server under load.
- `check`: Say whether texts match a JSON Schema, a grammar or a pattern, and where they don't.
- `convert`: Write a grammar in another dialect.
- `generate`: Generate one answer that has the shape of a JSON Schema, a grammar or a pattern.
- `inputs`: What a command is given.
- `options`: What several commands have in common of their options.
- `program`: The program `maskwright`.
- `serve`: Serve a model over HTTP, in OpenAI's protocol.
- `shapes`: What a command is told that texts shall look like.
- `shipped`: The schemas and grammars that ship with the package, by name.
- `show`: Places and byte sets in words.
- `tables`: Figures as plain text within a width.
- `walk`: A text walked through a grammar byte by byte.
"""

from maskwright.cli.program import main

__all__ = ["main"]
