"""Limits on counted work: the same input meets the same limit on every machine."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from types import TracebackType

from maskwright.errors import LimitError


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one grammar may cost. Every limit is a count, never a time.

    The defaults pass real schemas with room to spare and stop hostile ones; a `LimitError` names
    the field that was hit.
    """

    schema_depth: int = 128
    """Nesting of arrays and objects in the schema document."""
    schema_nodes: int = 200_000
    """JSON values in the schema document, strings and numbers included."""
    pattern_length: int = 20_000
    """Characters of one regular expression."""
    pattern_terms: int = 50_000
    """Terms of one regular expression after parsing."""
    lookbehind_states: int = 256
    """States of the automaton that follows the lookbehinds, `^` and `\\b` of a pattern."""
    grammar_length: int = 2_000_000
    """Characters of one grammar."""
    alternatives: int = 4_096
    """Branches of one union after `anyOf` has been multiplied out."""
    grammar_rules: int = 20_000
    """Rules of one grammar."""
    grammar_nodes: int = 200_000
    """Places in all rules of one grammar at which reading can stand."""
    items: int = 4_000
    """Ways in which one text can be read so far, and all that may come next."""
    leaf_states: int = 100_000
    """States of the byte automata that one grammar may add."""
    contexts: int = 200_000
    """Structural contexts (object and array positions) that one grammar may add."""
    witness_search: int = 200_000
    """States visited in one search for a shortest string of a regular language."""
    divisor: int = 2_500
    """Remainders that the digits of a number have to be followed through for one `multipleOf`."""

    work: int = 700_000
    """Steps of one compile, or behind one mask: transitions of patterns, schemas merged, values
    tried, contexts looked at. What is known from other grammars is not counted again."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"limit {field.name} must be at least 1")


DEFAULT_LIMITS = Limits()


class Work:
    """The steps that one question may still take: entered while it is worked on, in one thread."""

    __slots__ = ("_depth", "_left", "_limit", "_outer")

    def __init__(self, limits: Limits) -> None:
        self._limit = self._left = limits.work
        self._outer: Work | None = None
        self._depth = 0

    def begin(self) -> None:
        """Another question, unless it is part of the one being worked on."""
        if self._depth == 0:
            self._left = self._limit

    def take(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise LimitError(
                f"the grammar takes more than {self._limit:,} steps to work out: use fewer"
                " alternatives, patterns or repeats that overlap",
                limit="work",
            )

    def __enter__(self) -> None:
        if self._depth == 0:
            self._outer, _here.work = _here.work, self
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            _here.work, self._outer = self._outer, None
        if isinstance(error, RecursionError):
            raise LimitError(
                "schemas refer to each other too deep, or values nest too deep",
                limit="schema_depth",
            ) from None


class _Here(threading.local):
    work: Work | None = None


_here = _Here()


def spend(steps: int = 1) -> None:
    """Count steps of what is being worked on in this thread; free outside of any question.

    Raises `LimitError` where that makes too many.
    """
    work = _here.work
    if work is not None:
        work.take(steps)
