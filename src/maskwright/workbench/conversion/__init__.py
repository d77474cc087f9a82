"""Shapes written anew: JSON Schemas as rules, which `grammar.dialects.write` writes in a dialect,
and grammars without some of their rules.

- `languages`: Regular languages as grammars write them: strings of JSON, short expressions.
- `losses`: What a grammar can't say of a schema, and where it stands.
- `schema_rules`: The rules of a schema: start reading here.
"""
