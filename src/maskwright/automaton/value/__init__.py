"""What is remembered while one JSON value is read: members, items, equality, whitespace.

- `equality`: Values that an array or object must differ from, or be known by, while it is being
  read.
- `finite_values`: Which scalars satisfy a conjunction, where they are few enough to be told apart
  or run out.
- `last_value`: The JSON value that a text ends with.
- `level`: A level of nesting at one point of its reading.
- `name_classes`: Property names that a shape does not list.
- `progress`: How far a container has been read.
- `required`: What an array or object still lacks, as far as that shows without a search.
- `whitespace`: Where whitespace may or must stand in generated JSON.
- `witness_text`: Values as they are written.
"""
