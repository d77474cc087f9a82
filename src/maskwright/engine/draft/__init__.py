"""Speculative decoding: tokens proposed by a small model and verified by the large one.

- `model`: The draft model with a key/value pool of its own.
- `length`: How many tokens to propose, from how many were accepted and what they cost.
"""
