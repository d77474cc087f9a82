"""Tools that a model may call, and the formats in which families of models write calls.

A tool is a name and a JSON Schema for its arguments. How a call is spelled is data: one TOML file
for each family in `tool_formats/`. To add a family, add a file there, its sign in
`server/grammars/tool_style.py`, a row in `tests/grammar/tools/test_tools.py` and one in
`tests/server/test_tools.py`.

- `arguments`: The arguments of one tool as an expression, in each style of spelling.
- `formats`: The files in `tool_formats/`, read and checked.
- `python_arguments`: Arguments as Python's keyword arguments.
- `python_literals`: Values as Python writes them.
- `rules`: The rules of an answer that may or must call tools.
- `tools`: Tools and the choice among them, parsed from a request.
"""
