"""What one shape allows and another doesn't.

- `compared`: Which texts only one of two grammars has, and whether that was decided.
- `schema_pairs`: Two schemas compared part by part.
"""
