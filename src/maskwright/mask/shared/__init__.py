"""What grammars share: the tables of a vocabulary, machines, bounds, and caches.

- `budget_cache`: A cache of completions and masks within token budgets.
- `generations`: The generations of a vocabulary's tables, which are forgotten one by one.
- `known_tools`: A cache of the compiled arguments of tools.
- `leaf_bounds`: Upper bounds on the tokens that complete a text, and the tokens that count.
- `machine`: A machine with the caches of its configurations.
- `vocabulary_tables`: What all grammars over one vocabulary share: leaf states, rows, ready rows.
"""
