"""The shortest end of a text from any configuration, and upper bounds on its length.

- `bounds`: How many tokens can certainly complete a text, whatever one token does to it.
- `completion`: The shortest way to finish a text from any configuration.
- `distinct_bounds`: What a value takes at most that must differ from some others, found without a
  search.
- `levels`: The shortest text that completes a stack of levels.
"""
