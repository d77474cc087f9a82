"""Key/value blocks: allocation, reference counts and the prefix tree.

- `attention_window`: How far back a sequence looks, and so how many blocks it holds.
- `blocks`: The pool of key/value blocks.
- `prefix`: The prefix tree.
"""
