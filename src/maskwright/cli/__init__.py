"""The command line `maskwright`, a module a command.

- `bench/`: The commands that measure: a server under load, a shape.
- `bulk/`: Asks a server about thousands of records, for `maskwright batch`.
- `fleet/`: The commands that serve with more than one server.
- `input/`: What commands are given: texts, shapes, and the names of shapes that ship.
- `observe/`: The commands that look at a server, running or by its traces.
- `output/`: How the commands show things: tables within a width, places in a text.
- `process/`: What a command sets up for its whole process.
- `serving/`: The command `serve`: its options, and what it starts.
- `shape/`: The commands that see, test and change a shape. They need no torch.
- `arguments`: Arguments of commands, declared at the fields of a dataclass.
- `asking`: The options of `batch`, `chat`, `generate` and `replay`.
- `batch`: The command `batch`: ask a model about thousands of records.
- `chat`: The command `chat`: a chat in the terminal.
- `completion`: The command `completion`: print a script for a shell.
- `doctor`: The command `doctor`: say what this machine is, and what to do about it.
- `generate`: The command `generate`: print one answer that has a shape.
- `generate_here`: Answers of a model that `generate` loads. Imports torch.
- `key`: The command `key`: make a key for a client.
- `options`: Options that several commands share, and what `doctor` and `status` take.
- `own_server`: A server in the process of a command.
- `plan`: The command `plan`: compute what a model can serve.
- `program`: The program: its commands and its errors.
- `replay`: The command `replay`: generate traced answers again.
"""

from maskwright.cli.program import main

__all__ = ["main"]
