"""The state of reading one JSON value: members, items, equality and whitespace.

While an array or object is read, a *progress* remembers what matters to the rest of it: how many
items have been read, which names, which values where items must differ or some two must be equal.
From a progress come the *options* of the next item or member. Where the container itself must not
equal certain values, or has to be recognised as one of them, the progress carries these values as
*candidates* until they are ruled out.

- `equality`: Values that an array or object may still turn out to equal.
- `finite_values`: The scalars of a conjunction, listed one by one where they are few.
- `last_value`: The JSON value that a text ends with.
- `level`: One level of nesting: its threads, and what it waits for.
- `name_classes`: The names that an object does not list, by the patterns that they match.
- `names_read`: The names of an object that a text is in, read off the text.
- `progress`: What has been read of a container, and the options of what comes next.
- `whitespace`: The whitespace styles of generated JSON.
- `witness_text`: Witnesses as trees, and the text that they are written as.
"""
