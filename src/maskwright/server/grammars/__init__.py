"""Decides which grammar an answer has, and keeps it compiled.

- `cache`: A cache of compiled grammars, by recipe.
- `lengths`: Whether prompts and the shortest answers fit into the context and the limit.
- `recipes`: Turns the shape and tools of a request into the recipe of its grammar.
"""
