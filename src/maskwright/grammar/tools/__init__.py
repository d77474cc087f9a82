"""Tools a model may call, and the formats in which families of models write calls.

- `arguments`: The arguments of a tool, as JSON or one parameter after the other.
- `formats`: How a family of models writes tool calls.
- `python_arguments`: The arguments of a tool as Python's keyword arguments.
- `python_literals`: Values as Python writes them.
- `rules`: From tools and a format to rules.
- `tools`: The tools a client offers, and which of them may be called.
"""
