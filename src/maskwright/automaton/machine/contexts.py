"""The structural half of a grammar, which the byte machine asks where leaves are left.

By default nothing is missing once a leaf has been left, and there are no names and no levels of
JSON.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from types import MappingProxyType

from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.value.level import Level, leaves_names_to_text
from maskwright.immutable import Acyclic


class Ending(Acyclic):
    """The shortest text that completes a stack of contexts."""

    text: bytes | None
    """None if nothing completes it."""
    by_text: bool = False
    """Whether it depends on the text so far, not on the configuration alone."""


class Bound(Acyclic):
    """Upper bounds, in tokens, on the completion of one level."""

    after_leaf: int
    """From where the leaf in it has been left, with any label."""
    after_value: int
    """From where a value in it has been read."""


class Contexts(ABC):
    """Contexts by their numbers: where each exit leads, and what completes them."""

    gates: Mapping[int, tuple[int, int] | None] = MappingProxyType({})
    """By context: what `gate` returns, where it need not be asked."""

    @abstractmethod
    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        """What follows when a leaf is left with `label` in `context`.

        Where that depends on the text that was read (the name or item that ends here, as JSON),
        `text` gives it; without, the answer is as if the text differed from all before it, and
        its kind has DYNAMIC added.
        """

    def finish(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Ending:
        """The shortest text that completes a stack of contexts, the innermost first.

        `leaf` is the state in which `exit` entered the innermost, `before` the text so far.
        `names`: without the names that only the text has.
        """
        return Ending(b"")

    def bound(self, context: int) -> Bound | None:
        """An upper bound on the completion of one level (see `automaton.finish.bounds`); None
        without a search."""
        return Bound(0, 0)

    def gate(self, context: int) -> tuple[int, int] | None:
        """(bits, width): the names still allowed in `context`, if its leaf has gates."""
        return None

    def level(self, context: int) -> Level | None:
        """The level of JSON that a context stands for, if it does."""
        return None

    def wants_repeat(self, context: int) -> bool:
        """Whether `context` is an array in which some item must still come again."""
        level = self.level(context)
        return level is not None and level.wants_repeat

    def leaves_names_to_text(self, context: int) -> bool:
        """Whether a name is read in `context` that must differ from some that only the text has."""
        return leaves_names_to_text(self.level(context))

    def value_leaf(self, context: int) -> int | None:
        """The leaf state in which the value begins that a context waits for, if it does."""
        return None

    def without_names(self, context: int) -> int:
        """The context as if no names had been read that the schema doesn't list; the context itself
        where these make a difference to its completions (see `Level.needs_no_names`)."""
        return context

    def leaf_without_names(self, context: int, leaf: int) -> int | None:
        """The leaf state in the context that `without_names` gives, after the same bytes; None
        within a character of a name that may still become a listed one."""
        return leaf

    def release(self) -> None:
        """Break the cycles of references (see `mask.shared.machine`). Nothing can be asked
        afterwards."""
        return
