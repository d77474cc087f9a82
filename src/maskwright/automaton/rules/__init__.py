"""Context-free grammars as contexts of the byte machine.

Every rule is a network of nodes. An *item* is a symbol (a text, a JSON value, a special token or a
call of a rule) that may be read next, the node after it, and a return address for the end of its
rule. All readings of a text that are still possible are one set of items, as in Earley's parser. A
*context* is such a set: its leaf reads all texts of the set at once, and where the leaf is left,
the next set follows from the items that have ended. A set whose items all return to one kernel
leaves that kernel on the machine's stack as a return frame, so contexts don't depend on how deep
they are nested. A *configuration* of the machine is then a leaf state over a stack of contexts.

- `completion`: The shortest text that completes an item set.
- `contexts`: Item sets as contexts of the byte machine.
- `follow`: FIRST and FOLLOW sets of rules, in bytes: when a leaf can be left later, and which
  numbers can't end.
- `item_sets`: Items, return addresses, kernels and their closures.
- `network`: Networks of rules: built from expressions; which nodes are live, epsilon closures.
- `nodes`: The nodes of the networks, and the symbols that are read at them.
- `text_contexts`: The contexts of a grammar that is one regular language of plain text.
- `value_places`: JSON values that may begin beside something else.
- `values`: The JSON values in a grammar: those written with equal options share their contexts.
"""
