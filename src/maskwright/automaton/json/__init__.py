"""JSON under a schema as contexts: threads on levels of nesting, names and values.

- `contexts`: The structure of JSON under a schema, as contexts of the byte machine.
- `distinguish`: Values of items that must differ, told apart one by one where they may run out.
- `dominated`: Threads that others outdo.
- `levels`: The levels of JSON that the grammars of one kind have met, numbered.
- `names`: Reading a property name.
- `plain_names`: Reading a property name where counting decides what may come.
- `precheck`: What masks will ask for, asked for beforehand.
- `values`: Reading a value.
"""
