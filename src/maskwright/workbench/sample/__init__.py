"""Texts that a shape allows, and which of its alternatives they use.

- `coverage`: Which parts of a schema some values use.
- `covering`: Texts that together use each alternative of a shape.
- `derivations`: Texts of a grammar that together use each of its alternatives.
- `samples`: Texts of a grammar: random ones, the shortest, long ones.
"""
