"""The commands that see, test and change a shape. None of them imports the server, and only
`trace --probabilities` imports torch.

- `cases`: The command `test`: run test cases of shapes.
- `check`: The command `check`: check shapes.
- `convert`: The command `convert`: write a shape as a grammar in one of the dialects.
- `diff`: The command `diff`: say which texts only one of two shapes accepts.
- `draw`: The command `draw`: draw a shape as SVG.
- `explain`: The command `explain`: say what is done with each keyword of a schema.
- `following`: The command `next`: say what may follow a prefix.
- `from_pydantic`: The command `from-pydantic`: print the JSON Schema of a Python type.
- `match`: The command `match`: say how far texts match, and why not further.
- `options`: The options of these commands.
- `probabilities`: What a model gives each token of a text, for `trace`.
- `sample`: The command `sample`: write texts that match a shape.
- `trace`: The command `trace`: follow a text token by token.
"""
