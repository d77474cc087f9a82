"""Tools that a model may call, and the formats in which families of models write calls.

A tool is a name and a JSON Schema for its arguments. How a call is spelled is data: one JSON file a
family in `tool_formats/`. To add a family, add a file there and a row in
`tests/grammar/tools/test_tools.py`.

- `arguments`: The arguments of one tool as an expression, in each style of spelling.
- `formats`: The files in `tool_formats/`, read and checked.
- `python_arguments`: Arguments as Python's keyword arguments.
- `python_literals`: Values as Python writes them.
- `rules`: The rules of an answer that may or must call tools.
- `tools`: Tools and the choice among them, parsed from a request.
"""
