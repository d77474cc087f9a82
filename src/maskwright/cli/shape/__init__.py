"""The commands that see, test and change a shape. None of them imports the server, and only
`trace --probabilities` imports torch.

- `cases`: The command `test`: run test cases of shapes.
- `cases_work`: What `test` does once its arguments are read.
- `check`: The command `check`: check shapes.
- `check_work`: What `check` does once its arguments are read.
- `convert`: The command `convert`: write a shape as a grammar in one of the dialects.
- `convert_work`: What `convert` does once its arguments are read.
- `diff`: The command `diff`: say which texts only one of two shapes accepts.
- `diff_work`: What `diff` does once its arguments are read.
- `draw`: The command `draw`: draw a shape as SVG.
- `draw_work`: What `draw` does once its arguments are read.
- `explain`: The command `explain`: say what is done with each keyword of a schema.
- `explain_work`: What `explain` does once its arguments are read.
- `following`: The command `next`: say what may follow a prefix.
- `following_work`: What `next` does once its arguments are read.
- `from_pydantic`: The command `from-pydantic`: print the JSON Schema of a Python type.
- `match`: The command `match`: say how far texts match, and why not further.
- `match_work`: What `match` does once its arguments are read.
- `probabilities`: What a model gives each token of a text, for `trace`.
- `sample`: The command `sample`: write texts that match a shape.
- `sample_work`: What `sample` does once its arguments are read.
- `trace`: The command `trace`: follow a text token by token.
- `trace_work`: What `trace` does once its arguments are read.
"""
