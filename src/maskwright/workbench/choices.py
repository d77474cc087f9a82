"""What may be chosen of these tools, and their limits. Imports nothing, so that the command line
shows its options before it imports a tool."""

from __future__ import annotations

from typing import Final, Literal

Kind = Literal["auto", "schema", "regex", "lark", "gbnf", "ebnf"]
"""Kinds of shapes that a command can be given."""
LayoutName = Literal["compact", "spaced", "flexible"]
"""Styles that a grammar can have; lines that are indented by depth are none."""
PictureName = Literal["railroad", "graph"]
Profile = Literal["openai-strict"]
Which = Literal["random", "shortest", "longest"]
"""Texts of a shape."""

MOST_PAIRS: Final = 1_000_000
"""Pairs of places that a comparison of two shapes visits at most, unless it is given."""
COMPARISON_SECONDS: Final = 20.0
"""Time for a comparison of two shapes, unless it is given."""
