"""Mask rows of strings and plain text that are computed once for a vocabulary.

- `inside`: Which tokens stay inside a JSON string.
- `runs`: Sets of characters that may come again and again in a text.
- `strings`: Ready rows.
- `subtrees`: What the trie's subtrees hold, so that a walk may take one as a whole.
- `text_rows`: Ready rows of plain text in which one set of characters may come any number of
  times.
"""
