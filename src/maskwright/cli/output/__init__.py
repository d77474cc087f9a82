"""How the commands show things: tables within a width, colours on a terminal.

- `columns`: Names with their descriptions, in two columns.
- `style`: Colours, on a terminal only.
- `tables`: Figures as plain text within a width.
- `verdicts`: How a text reads under a shape, in lines for people.
"""
