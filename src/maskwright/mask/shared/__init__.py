"""What grammars share: the tables of a vocabulary, a machine, bounds, and what is remembered.

- `budget_cache`: What is remembered about token budgets.
- `known_tools`: Arguments of tools that have been compiled before.
- `leaf_bounds`: Upper bounds on the tokens that complete a text.
- `machine`: A machine, and everything that is remembered about its configurations.
- `vocabulary_tables`: What all grammars over one vocabulary share: leaf states, rows, ready rows.
"""
