"""Numbers between bounds, and multiples, as regular languages over their spellings.

JSON writes one number in many ways: `100`, `100.0`, `1e2`. A keyword such as `minimum` is about the
value, so its language has every spelling of every number that it allows. Such a language is regular
because the number of digits is bounded. Its automaton is constructed lazily: a state stores only
what the bounds and the divisor need to know of the digits read so far.

- `digits`: Numbers without a sign, as an automaton that is constructed state by state.
- `interval`: Intervals of numbers, and their algebra.
- `multiples`: The multiples of a number, recognised by their digits.
- `spellings`: Sets of JSON numbers as languages over their spellings: start reading here.
"""
