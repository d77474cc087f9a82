"""Mask rows of strings and plain text that are computed once for a vocabulary.

Inside a string or a word nearly every token is allowed, and a walk over all of them would be slow.
A ready row holds the tokens that stay inside; it depends on the text's language only, not on the
rest of the grammar. A walk then adds the tokens that leave the text, which have a small trie.

- `combination`: The automaton of the strings that exactly one of several languages contains.
- `inside`: Which tokens stay inside a JSON string.
- `product`: The states and transitions of such an automaton, in Cython.
- `reach`: How many characters of a string one token may hold.
- `strings`: Ready rows.
- `tokens`: What tokens hold, whatever the grammar.
- `text_rows`: Ready rows of plain text in which one set of characters may come any number of
  times.
- `words`: Which tokens stay inside a string that is one of a list of words.
"""
