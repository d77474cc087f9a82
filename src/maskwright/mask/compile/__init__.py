"""The compilers, which turn a schema, pattern, grammar, tag or list of tools into a `Grammar`.

- `grammar`: The compiler of grammars that are written in Lark, GBNF or EBNF.
- `json_schema`: The compiler of JSON Schemas.
- `rules`: The compiler of rules, into which grammars, tags and tools are translated.
- `tags`: The compilers of structural tags and of tool calls.
- `text`: The compilers of patterns, choices and quotations.
"""
