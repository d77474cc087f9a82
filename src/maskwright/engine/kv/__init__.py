"""Key/value blocks: allocation, reference counts and the prefix tree.

- `attention_window`: How far back a model attends, and so which blocks a sequence must hold.
- `blocks`: The pool's bookkeeping: free, held and cached blocks, with reference counts.
- `prefix`: The tree of computed prefixes, found by their tokens.
"""
