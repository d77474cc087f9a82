"""The nodes of a grammar's networks, and what can be read at them."""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import JsonValue, SpecialToken

Counters = tuple[int, ...]

OUTSIDE: Final = -1
"""The loop of nodes that stand in none."""


class Text(NamedTuple):
    """Read a text of a language."""

    term: Regular


class Call(NamedTuple):
    """Read what a rule generates."""

    rule: int


Symbol = Text | Call | JsonValue | SpecialToken


class Step(NamedTuple):
    symbol: Symbol
    next: int


class Branch(NamedTuple):
    options: tuple[int, ...]


class Enter(NamedTuple):
    """Begin to count at `loop`."""

    loop: int


class Again(NamedTuple):
    """One more copy has been read in `loop`."""

    loop: int


class Loop(NamedTuple):
    """Read `body`, which ends in `Again`, `least` to `most` times."""

    least: int
    most: int | None
    body: int
    next: int


class Edge(NamedTuple):
    """Where a capture begins, or (`ends`) ends; nothing is read."""

    name: str
    tail: str
    ends: bool
    next: int


class Spent(NamedTuple):
    """Behind a text that has at most `tokens` tokens and `tail` characters more; nothing is
    read."""

    tokens: int
    tail: int
    next: int


class End(NamedTuple):
    """The end of a rule."""


Node = Step | Branch | Enter | Again | Loop | Edge | Spent | End


class Active(NamedTuple):
    """A step that can be taken at once, and where it leads."""

    symbol: Symbol
    next: int
    counters: Counters


class Expansion(NamedTuple):
    """What a position comes to without reading: steps, and whether the rule may end here."""

    steps: tuple[Active, ...]
    ends: bool


class Way(NamedTuple):
    """One way from a position to a step (None: to the rule's end), and what it passes."""

    step: Active | None
    edges: tuple[Edge, ...]


END: Final = 0
"""The node at which every rule ends."""
