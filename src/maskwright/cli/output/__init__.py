"""How the commands show things: tables within a width, places in a text.

- `columns`: Names with their descriptions, in two columns.
- `show`: Positions in a text and sets of bytes, in words.
- `tables`: Figures as plain text within a width.
"""
