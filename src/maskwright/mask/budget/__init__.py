"""Masks that keep only tokens after which the text can still be completed in time.

- `masks`: Finishing in time.
"""
