"""Shapes written anew: JSON Schemas as rules, which `grammar.dialects.write` writes in a dialect,
and grammars without some of their rules.

- `compact`: Regular languages as short expressions.
- `escapes`: Strings as JSON spells them, as regular languages over the characters of the text.
- `losses`: What a grammar can't say of a schema, and where it stands.
- `schema_rules`: The rules of a schema: start reading here.
"""
