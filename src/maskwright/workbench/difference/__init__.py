"""What one shape allows and another doesn't.

- `compared`: Which texts only one of two grammars has, and whether that was decided.
- `level_moves`: Where bytes lead from one level of a machine, whatever is below it.
- `schema_pairs`: Two schemas compared part by part.
"""
