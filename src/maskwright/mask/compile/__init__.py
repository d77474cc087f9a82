"""The compilers, which turn a schema, pattern, grammar, tag or list of tools into a `Grammar`.

- `arguments`: What callers give the compilers: checked, and kept as the recipe of the grammar.
- `constructs`: Where in a schema or a grammar a text stands, for errors.
- `json_schema`: The compiler of JSON Schemas.
- `parts`: Schemas, patterns and grammars as parts of tags and calls.
- `rules`: The compiler of rules, into which tags and tools are translated, and grammars in Lark,
  GBNF or EBNF.
- `text`: The compilers of patterns, choices and quotations.
- `tools`: The compilers of structural tags and of answers that may or must call tools, and the
  shapes of other answers.
"""
