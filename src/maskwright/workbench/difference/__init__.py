"""What one shape allows and another doesn't.

- `compared`: Which texts only one of two grammars has, and whether that was decided.
- `language_difference`: What one regular language has and another lacks.
- `level_moves`: Where bytes lead from one level of a machine, whatever is below it.
- `pair_walk`: The walk over two machines together, level by level.
- `schema_pairs`: Two schemas compared part by part.
- `shape_pairs`: Two normal forms compared.
"""
