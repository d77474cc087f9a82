"""Shapes written anew: JSON Schemas as rules, which `grammar.dialects.write` writes in a dialect,
and grammars without some of their rules.

- `languages`: Regular languages as grammars write them: strings of JSON, short expressions.
- `schema_rules`: The rules of a schema, and what they cannot say of it: start reading here.
"""
