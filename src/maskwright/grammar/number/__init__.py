"""Numbers between bounds, and multiples, as regular languages over their spellings.

- `digits`: Spellings of numbers without a sign, as an automaton that is written out state by
  state.
- `exponents`: Exponents as numbers have them behind an `e`, and the digits that they are made of.
- `interval`: Numbers between two bounds.
- `multiples`: The multiples of a number, as its digits tell them.
- `spellings`: JSON numbers as regular languages over their spellings.
"""
