"""Where whitespace may or must stand in generated JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

WhitespaceName = Literal["compact", "spaced", "pretty", "flexible"]

MOST_SPACE: Final = 32
"""The longest run of whitespace that `flexible` allows, in bytes."""


@dataclass(frozen=True, slots=True)
class Whitespace:
    """A style: up to `room` bytes of any whitespace wherever JSON allows it, fixed separators."""

    room: int
    after_comma: bytes
    after_colon: bytes
    indent: int
    """Spaces a level when every item stands on a line of its own, else 0."""

    @property
    def lines(self) -> bool:
        return self.indent > 0

    def line(self, depth: int) -> str:
        """The line break before an item or bracket at `depth`; empty in styles without lines."""
        return "\n" + " " * (self.indent * depth) if self.lines else ""

    def comma(self, depth: int) -> str:
        """A comma and the whitespace that must follow it."""
        return "," + (self.line(depth) or self.after_comma.decode())


WHITESPACE: Final[dict[str, Whitespace]] = {
    "compact": Whitespace(0, b"", b"", 0),
    "spaced": Whitespace(0, b" ", b" ", 0),
    "pretty": Whitespace(0, b"", b" ", 2),
    "flexible": Whitespace(MOST_SPACE, b"", b"", 0),
}
