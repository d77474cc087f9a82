"""The machine walked over the token trie in compiled code, and the mask rows that result.

- `arrays`: What a walk reads and writes: its scratch memory and the trie, by address.
- `ends`: Tokens that end two names or items, cut into pieces that a walk can check.
- `row_table`: All mask rows of a vocabulary, each stored once.
- `walk`: Walks the machine over the trie and writes mask rows.
"""
