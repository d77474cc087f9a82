"""Nodes of rule networks, and the symbols that are read at them.

The networks are recursive transition networks (Woods 1970), one for each rule: a symbol in them is
a text, a JSON value or a special token that is read, or a call of another rule. Only a `SymbolNode`
reads; every other node is an epsilon move, which reads nothing on the way to the next.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import ContainerCapture, JsonValue, SpecialToken
from maskwright.immutable import Acyclic, Immutable

Counters = tuple[int, ...]
"""How often the body of each open counted loop has been read, the innermost loop last."""

NO_LOOP: Final = -1
"""The loop of a node that stands in no counted loop."""

# Symbols


class TextSymbol(Immutable):
    """A text of a regular language."""

    term: Regular


class RuleCall(Acyclic):
    """A text that a rule generates."""

    rule: int


Symbol = TextSymbol | RuleCall | JsonValue | SpecialToken

# Nodes


class SymbolNode(Immutable):
    """Reads `symbol`, then continues at `next`."""

    symbol: Symbol
    next: int


class BranchNode(Acyclic):
    """Goes on at any of `options`."""

    options: tuple[int, ...]


class LoopEntry(Acyclic):
    """Opens a counter for `loop`, which begins at zero."""

    loop: int


class LoopBack(Acyclic):
    """Counts one more copy of the body of `loop`, and returns to its head."""

    loop: int


class LoopNode(Acyclic):
    """The head of a counted loop: `body`, which ends in a `LoopBack`, is read `least` to `most`
    times (None: any number of times)."""

    least: int
    most: int | None
    body: int
    next: int


class CaptureBoundary(Immutable):
    """Where a capture begins or, with `ends`, where it ends; `tail` is read, but left out.
    `container`: see `Capture`."""

    name: str
    tail: str
    ends: bool
    next: int
    container: ContainerCapture | None = None


class BoundedEnd(Acyclic):
    """The end of a text that may take at most `tokens` tokens, and then `last` and at most `tail`
    more characters that end it."""

    tokens: int
    tail: int
    next: int
    last: str = ""


class CutNode(Acyclic):
    """The end of the text of a `Cut`: what was read beside it is given up."""

    next: int


class RuleEnd(Acyclic):
    """The end of a rule."""


RULE_END: Final = 0
"""The node at which every rule ends."""

Node = (
    SymbolNode
    | BranchNode
    | LoopEntry
    | LoopBack
    | LoopNode
    | CaptureBoundary
    | BoundedEnd
    | CutNode
    | RuleEnd
)

# Where nodes lead


class Transition(Immutable):
    """A symbol that can be read next, the node after it, and the counters there."""

    symbol: Symbol
    next: int
    counters: Counters


class EpsilonClosure(Immutable):
    """What a node reaches without reading: transitions, and with `may_end` the rule's end."""

    transitions: tuple[Transition, ...]
    may_end: bool


class EpsilonPath(Immutable):
    """One path of epsilon moves from a node to a transition (None: to the rule's end), and the
    boundaries of captures on it, in order."""

    transition: Transition | None
    boundaries: tuple[CaptureBoundary, ...]
