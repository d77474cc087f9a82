"""Property names that must differ from names that only the text has.

- `positions`: Positions within such a name.
"""
