"""Byte automata of regular languages (leaves), built lazily and shared by all grammars.

- `builder`: Building the rows of leaf states.
- `character_arrays`: Automata over characters as the compiled code reads them.
- `exits`: When a leaf of several texts side by side is left, and with what label.
- `keys`: What leaf states stand for.
- `rows`: The rows of leaf states.
- `special_tokens`: How the machine spells special tokens, which no text spells.
- `table`: The leaf table.
- `utf8`: Characters as bytes spell them.
- `utf8_sets`: UTF-8 of characters beyond ASCII, told apart by the sets that they are in.
- `word_tries`: Tries of words as leaf states, a whole list at a time.
"""
