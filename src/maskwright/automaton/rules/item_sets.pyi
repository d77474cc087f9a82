"""Item sets: every way in which a text can have been read so far, as Earley (1970) keeps them.

An *item* is a symbol that is being read or that a rule waits for, the node at which its rule goes
on afterwards, and a *return address*: what happens when that rule ends. A *kernel* is a set of
items; it holds everything that matters of the text so far. A return address names a rule and the
kernel that called it: when the rule ends, the items of that kernel which wait for the rule go on.
The *closure* of a kernel adds what the rules that it calls may begin with, as the closure of an LR
item set does.

Kernels are identified by what they contain, not by where in the text they arose. So equal pasts are
one kernel, and a loop in a grammar is a cycle of kernels; left recursion, ambiguity and empty rules
need no special treatment.

Items, positions, return addresses and kernels are made once and numbered. Two with equal parts are
the same object, or the same number, so that sets of them are sorted numbers and marks in an array:
what is new in a text is found in a few microseconds.

Two return addresses are symbolic. An item that returns to `BELOW` returns to the kernel of the next
return frame on the machine's stack, whichever that is. An item that returns to `OUTERMOST` ends the
text.
"""

from collections.abc import Iterable
from typing import Final

from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import Counters, Symbol
from maskwright.errors import Construct
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.limits import Limits

BELOW: Final = 0
"""Stands for the kernel of the next return frame on the stack."""
OUTERMOST: Final = 1
"""Stands for the caller of the start rule."""
NO_ITEMS: Final = 2
"""The number of the kernel without items."""

class ReturnAddress:
    """What happens when a rule ends: the items of `kernel` that wait for `rule` go on."""

    @property
    def rule(self) -> int: ...
    @property
    def kernel(self) -> int: ...

class RulePosition:
    """A rule continues at `node`."""

    @property
    def node(self) -> int: ...
    @property
    def counters(self) -> Counters: ...
    @property
    def return_to(self) -> ReturnAddress: ...

class Item:
    """`symbol` is being read, or comes next; then its rule continues at `after`."""

    @property
    def symbol(self) -> Symbol: ...
    @property
    def after(self) -> RulePosition: ...

class Closure:
    """Everything that can be read next from a kernel, in it or in the rules that it calls: the
    items of each symbol."""

    @property
    def texts(self) -> dict[Regular, list[Item]]:
        """In the order of the terms' numbers."""
    @property
    def values(self) -> dict[JsonValue, list[Item]]: ...
    @property
    def tokens(self) -> dict[SpecialToken, list[Item]]: ...
    @property
    def waiting(self) -> dict[int, list[Item]]:
        """By called rule."""
    @property
    def ahead(self) -> tuple[int, ...] | None:
        """For each of `texts`, the bytes that may come after it; None if these aren't known."""

class Successors:
    """Where the text stands after some symbols have been read."""

    @property
    def kernel(self) -> int: ...
    @property
    def ended(self) -> frozenset[int]:
        """The rules that end and return to `BELOW`."""
    @property
    def may_end(self) -> bool:
        """Whether the whole text may end here."""

class ItemSets:
    """The item sets of one grammar."""

    def __init__(
        self, network: RuleNetwork, limits: Limits, follow: list[int] | None = None
    ) -> None:
        """`follow` [nodes]: the bytes with which a text may go on at each node, see
        `follow.NextBytes`; without it, closures don't say what may come after their texts."""
    @property
    def network(self) -> RuleNetwork: ...
    def start_position(self) -> RulePosition:
        """Where every text of the grammar begins."""
    def address(self, rule: int, kernel: int) -> ReturnAddress: ...
    def position(self, node: int, counters: Counters, return_to: ReturnAddress) -> RulePosition: ...
    def item(self, symbol: Symbol, after: RulePosition) -> Item: ...
    def kernel(self, items: Iterable[Item]) -> int:
        """The number of the kernel of some items. Raises `LimitError` for too many of them."""
    def items_of(self, kernel: int) -> tuple[Item, ...]:
        """The items of a kernel. Raises `IndexError` for a number that no kernel has."""
    def rules_of(self, kernel: int) -> Construct:
        """The rules in which the items of a kernel stand, the rule of most items first."""
    def begin(self, position: RulePosition) -> Successors:
        """Where a position leads; see `advance`."""
    def advance(self, read: list[Item], kept: list[Item]) -> Successors:
        """Where the text stands when the symbols of the items `read` have been read to their end,
        and the symbols of `kept` may still be. Rules that end on the way return to their callers
        (Earley's completion).

        An item that differs from another in a higher count alone, where both loops may end, is
        dropped: the lower count can do all that the higher one can. Raises `LimitError` for a
        kernel of too many items.
        """
    def after_texts(self, kernel: int, terms: tuple[Regular, ...]) -> Successors:
        """`advance` when `terms` of a kernel have been read, and nothing else can go on."""
    def after_rules(self, frame: int, rules: frozenset[int], kernel: int) -> Successors:
        """`advance` of the kernel `frame` when `rules` have ended for which it waits, or the text
        is still within `kernel`, whose items return to it."""
    def closure(self, kernel: int) -> Closure:
        """The closure of a kernel. Raises `LimitError` for one of too many items."""
    def resolved(self, kernel: int, frame: int) -> int:
        """`kernel` with `BELOW` resolved: what returned there returns to the kernel `frame`."""
    def split_frame(self, kernel: int) -> tuple[int, int] | None:
        """`kernel` with `BELOW` for its callers, and the one kernel that called all its rules, to
        be pushed as a return frame; None if there is no such kernel, or it is symbolic already."""
