"""How the commands show things: tables within a width, colours on a terminal, charts.

- `appearance`: The options about colours and remarks, which every command has.
- `chart`: Charts as SVG: lines over two axes, and bars of stacked parts.
- `excerpts`: How much of a long line is shown.
- `files`: Files to which a command writes what it found.
- `progress`: What a command is doing, on a terminal only.
- `tables`: Figures as plain text within a width.
- `verdicts`: How a text reads under a shape, in lines for people.
"""
