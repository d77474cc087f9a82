"""Tools that a model may call, and the formats in which families of models write calls.

A tool is a name and a JSON Schema for its arguments. A TOML file in `tool_formats/` describes how
each family writes calls. To add a family, add a file there; its sign in
`server/recipes.py`, of which the first that occurs counts; a row in the table of
docs/tags-and-tools.md; and a row in `FORMATS` of `tests/grammar/tools/test_tools.py`, in `SPECIALS`
too if its marks may be special tokens. A family that writes parameters also gets one in
`tests/server/answer/test_parts.py`, and one whose sign is part of another's, or that has no mark,
in `tests/server/test_tool_style.py`. What no template can say is a new field of
`formats.ToolFormat`.

- `arguments`: The rules of a tool's arguments, as JSON or as parameters.
- `cohere_values`: The rules of arguments in Cohere's notation.
- `custom_input`: The input of a custom tool, as each format writes it.
- `formats`: Reads and checks the files in `tool_formats/`; the styles of structural tags.
- `members`: Values in formats that write declared members only, within each other.
- `python_arguments`: Python's literals, and the rules of a tool's arguments as keyword arguments.
- `rules`: The rules of an answer that may or must call tools.
- `tools`: Reads the tools of a request, and which of them may be called.
"""
