"""JSON under a schema as contexts of the byte machine.

A context is one level of nesting at one point of its reading. It holds *threads*: one for each way
in which the text so far may still come to satisfy the schema. Names and values are read by leaves,
regular languages whose labels say which threads go on. Threads that can't be completed are never
made, and threads that others dominate are dropped.

- `bit_sets`: Sets of small numbers as the bits of an int.
- `contexts`: The machine's questions: where leaving a leaf leads, and what a bracket opens.
- `distinguish`: The values that have to be distinguished while an item is read.
- `labels`: What exits are taken with: labels of structural leaves, results of values.
- `levels`: The levels met by the grammars of one kind, numbered.
- `names`: Reading a property name, for any threads; which objects are plain.
- `plain_exits`: The exits after a name in a plain object, and the numbers of the levels there.
- `plain_reader`: One reader for each progress of a plain object.
- `precheck`: Finding at compile time what would end a text in its middle.
- `remembered_names`: The names that contexts remember, and those that they leave to the text.
- `values`: Reading a value: the languages of its scalars, and the threads that each satisfies.
"""
