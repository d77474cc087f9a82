"""From a schema, pattern, grammar, tag or list of tools to a compiled `Grammar`.

- `grammar`: The compiler of grammars that are written in Lark, GBNF or EBNF.
- `json_schema`: The compiler of JSON Schemas.
- `rules`: From rules to a `Grammar`.
- `tags`: Compilers for what alternates free text and structure.
- `text`: Compilers for texts that are one regular language.
"""
