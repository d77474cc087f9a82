"""Decides which grammar an answer has, and keeps it compiled.

- `lengths`: Whether prompts and the shortest answers fit into the context and the limit.
- `recipes`: The recipe of a grammar, from shape and tools, and a cache of compiled grammars.
"""
