"""The normal form of a schema: for each JSON type, what a value of it must look like.

- `arrays`: The arrays that satisfy assertions without unions.
- `disjoint`: What can be seen of a schema at a glance.
- `negation`: Negation pushed to the leaves.
- `objects`: The objects that satisfy assertions without unions.
- `one_of`: `oneOf` as `anyOf`.
- `scalars`: What schemas without unions say of scalars.
- `shape`: The normal form.
- `shapes`: The shapes of a schema document.
- `strings`: The strings that satisfy a schema, by algebra alone.
- `unevaluated`: `unevaluatedProperties` and `unevaluatedItems`, rewritten into keywords that need
  no memory.
- `unions`: Unions multiplied out.
"""
