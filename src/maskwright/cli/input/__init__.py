"""What commands are given: texts, shapes, and the names of shapes that ship.

- `checkpoint_shape`: What capacity depends on, as a config.json says it.
- `faults`: Errors in the text of a shape, with their place and a caret.
- `opened`: A shape that has been read and compiled for single bytes; the files of shapes.
- `python_type`: The JSON Schema of a Python type.
- `shapes`: The shape given on the command line: schema, grammar or pattern.
- `shipped`: The schemas and grammars that ship with the package, by name.
- `table_file`: Tables in TOML, YAML or JSON files. Every mistake in them is named.
- `texts`: Reads files, standard input and text given as arguments.
- `vocabulary`: The vocabulary of a checkpoint, read without the model.
- `yaml_text`: Shapes that are written in YAML, and where in it values stand.
"""
