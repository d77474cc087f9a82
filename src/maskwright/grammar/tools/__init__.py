"""Tools that a model may call, and the formats in which families of models write calls.

A tool is a name and a JSON Schema for its arguments. A TOML file in `tool_formats/` describes how
each family writes calls. To add a family, add a file there, its sign in
`server/grammars/recipes.py`, and rows in `tests/grammar/tools/test_tools.py`,
`tests/server/test_tools.py` and `tests/server/grammars/test_tool_style.py`.

- `arguments`: The rules of a tool's arguments, as JSON or as parameters.
- `cohere_values`: The rules of arguments in Cohere's notation.
- `custom_input`: The input of a custom tool, as each format writes it.
- `formats`: Reads and checks the files in `tool_formats/`.
- `members`: Objects in formats that write declared members only.
- `nested_values`: The rules of lists and objects within each other.
- `python_arguments`: The rules of a tool's arguments as Python's keyword arguments.
- `python_literals`: Languages of Python's literals, and their translation to JSON.
- `rules`: The rules of an answer that may or must call tools.
- `styles`: The styles of structural tags in which arguments are written one by one.
- `tools`: Reads the tools of a request, and which of them may be called.
"""
