"""Masks that keep only tokens after which the text can be completed within a budget of tokens.

- `least_tokens`: The fewest tokens of any text of a grammar.
- `masks`: The masks of positions under a budget.
- `places`: The keys under which costs are remembered.
- `spellable`: Masks over a vocabulary that lacks bytes.
- `token_costs`: How many tokens complete a text from a configuration.
- `verdicts`: A verdict on each token of a mask, by the text that it would lead to.
"""
