"""Texts that a shape allows, and which of its alternatives they use.

- `covering`: Texts that together use each alternative of a shape.
- `samples`: Texts of a grammar: random ones, the shortest, long ones.
"""
