"""Tokens proposed by a small model and verified by the large one.

- `model`: A draft model.
- `pace`: How many tokens a draft model should guess, from what its guesses and its time have been
  worth.
"""
