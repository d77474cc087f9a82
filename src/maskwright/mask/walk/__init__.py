"""The machine walked over the token trie in compiled code, and the rows that result.

- `arrays`: What a walk over a vocabulary reads and writes, in the same directory as the machine.
- `ends`: Tokens that a walk can't vouch for, cut into pieces that it can.
- `row_table`: The row table.
- `walk`: Trie × machine.
"""
