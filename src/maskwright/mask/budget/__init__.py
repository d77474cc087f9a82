"""Masks that keep only tokens after which the text can be completed within a budget of tokens.

`masks` asks `token_costs` how many tokens complete the text after each token. These are counted
along the completion with the fewest *bytes*, which `automaton.finish` finds: where it takes too
many tokens, the text is mostly to be changed there. Completions with fewer tokens and more bytes
are sought only where a request would be refused otherwise (`masks.least_tokens`). Where a bound of
`mask.walker` shows that any token leaves enough, nothing is counted.

- `masks`: The masks of positions under a budget, and the fewest tokens of any text of a grammar.
- `places`: The keys under which costs are remembered.
- `token_costs`: How many tokens complete a text from a configuration.
- `verdicts`: A verdict on each token of a mask, by the text that it would lead to; masks over a
  vocabulary that lacks bytes.
"""
