"""Walks of the machine over the token trie in compiled code, and the resulting mask rows.

A mask is the set of tokens that the machine can read from its configuration. Tokens with a common
prefix share the steps of that prefix: one walk over the trie of all tokens runs the machine along
each path until it dies. Each distinct mask is stored once, under the number of its row.

- `ends`: Tokens that end two names or items, cut into pieces that a walk can check.
- `name_endings`: The tokens that end a property name at one configuration within it.
- `row_table`: All mask rows of a vocabulary, each stored once.
- `walk`: Walks the machine over the trie and writes mask rows.
"""
