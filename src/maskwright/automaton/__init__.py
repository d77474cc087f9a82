"""From normal forms and rules to a byte machine whose configurations are interned ints.

- `events/`: What a text contains, read off the machine's steps: values, containers, strings and
  captures.
- `finish/`: The shortest end of a text from any configuration, and upper bounds on its length.
- `json/`: JSON under a schema as contexts: threads on levels of nesting, names and values.
- `leaf/`: Byte automata of regular languages (leaves), built lazily and shared by all grammars.
- `machine/`: The byte machine: leaf states over an interned stack of contexts, with its compiled
  half.
- `rules/`: Context-free grammars as contexts: item sets over networks of rule nodes.
- `satisfy/`: Whether a schema has instances, and a short one of each.
- `value/`: What is remembered while one JSON value is read: members, items, equality, whitespace.
"""
