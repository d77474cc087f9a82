"""Key/value blocks: allocation, reference counts and the prefix tree.

- `block_keys`: Chained digests of blocks, by which stores outside the pool find them.
- `blocks`: The pool's bookkeeping: free, held and cached blocks, with reference counts; and how
  many of them a sequence has to hold.
- `prefix`: The tree of computed prefixes, found by their tokens, and since when nothing that was
  used has been evicted.
"""
