"""Context-free grammars as contexts: item sets over networks of rule nodes.

- `builder`: Making the networks of rules, each from its end backwards.
- `contexts`: Context-free grammars as contexts of the byte machine.
- `finish`: The shortest text that completes an item set.
- `follow`: With which bytes a grammar's text may go on behind a place in a rule.
- `item_sets`: Item sets.
- `network`: Rules as networks of positions.
- `nodes`: The nodes of a grammar's networks, and what can be read at them.
- `text_contexts`: A grammar that is one regular language of plain text, as contexts of the byte
  machine.
- `value_places`: Where in a grammar's rules a JSON value may begin.
- `values`: The JSON values that stand in a grammar, one machine of contexts for each set of
  options.
"""
