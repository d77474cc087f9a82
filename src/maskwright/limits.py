"""Limits on counted work: an input meets equal limits on every machine.

Two further limits, on time and on memory, are off unless they are asked for. All of them are
checked where work is counted, in `spend`, which every loop calls that can grow with the input.
"""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from time import monotonic, thread_time
from typing import Final

from maskwright.errors import Construct, LimitError, SliceExceeded
from maskwright.steps import Steps, spend

__all__ = [
    "CHEAP",
    "DEFAULT_LIMITS",
    "MEASURED",
    "Limits",
    "Work",
    "resident_bytes",
    "slice_of",
    "spend",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one grammar may cost. Every limit is a count, but for `seconds` and `bytes`.

    The defaults leave ample room for real schemas and stop hostile ones. A `LimitError` names the
    limit that was exceeded. A question is one compile, or one mask, move or completion.
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
    """Nodes of the rule network of one grammar."""
    items: int = 4_000
    """Items of one item set: the ways in which the text so far can have been read."""
    leaf_states: int = 100_000
    """States of the byte automata that one text of a grammar may add to those that are known."""
    contexts: int = 200_000
    """Structural contexts (object and array positions) that one text may add to those known."""
    witness_search: int = 200_000
    """States visited in one search for a shortest string of a regular language."""
    divisor: int = 2_500
    """Remainders that a `multipleOf` has to distinguish."""

    work: int = 900_000
    """Steps of one question: transitions of patterns, schemas merged, values tried, contexts
    visited. What is known from other grammars is not counted again."""

    seconds: float | None = None
    """Wall time of one question; None for no limit. Where it is met depends on the machine."""
    bytes: int | None = None
    """Bytes by which the memory of the process may grow during one question; None for no limit.
    What other threads take meanwhile counts too."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "seconds":
                if value is not None and not value > 0:
                    raise ValueError("limit seconds must be positive")
            elif value is not None and value < 1:
                raise ValueError(f"limit {field.name} must be at least 1")


DEFAULT_LIMITS = Limits()

MEASURED: Final = frozenset(("seconds", "bytes"))
"""The limits that are measured; all others are counts."""

_BETWEEN_LOOKS: Final = 16
"""Steps between two looks at the clock, where one is needed; a step takes some microseconds."""
_BETWEEN_MEASURES: Final = 0.01
"""Seconds between two looks at the memory of the process, which take some 10 microseconds."""


class Work(Steps):
    """The steps that one question may still take: entered while it is worked on, in one thread.

    Work that is entered within other work has steps of its own. The time and the memory of the
    outer question bound it too, since they pass for both.
    """

    __slots__ = (
        "_construct",
        "_deadline",
        "_level",
        "_limits",
        "_measure_at",
        "_own_deadline",
        "_own_level",
        "_slice_end",
        "_slice_processor_end",
    )

    def __init__(self, limits: Limits, construct: Construct | None = None) -> None:
        """`construct`: what errors name that name nothing more precise."""
        self._limits = limits
        self._construct = construct
        self._own_deadline = self._deadline = math.inf
        self._own_level = self._level = math.inf
        """Bytes of memory that the process may take, by this question's limits and by all."""
        self._slice_end = self._slice_processor_end = math.inf
        """When the slice is over at the earliest, and at how much processor time of this thread."""
        self._measure_at = 0.0
        self.budget = limits.work
        self.is_bounded = self.is_timed = limits.seconds is not None or limits.bytes is not None
        self.begin()

    def bound(self) -> None:
        limits = self._limits
        if limits.seconds is not None:
            self._own_deadline = monotonic() + limits.seconds
        if limits.bytes is not None:
            self._own_level = resident_bytes() + limits.bytes

    def look(self) -> None:
        left = self.until_look + self.reserve
        if left < 0:
            raise LimitError(
                f"the grammar takes more than {self._limits.work:,} steps to work out",
                limit="work",
                value=self._limits.work,
            )
        now = monotonic()
        if now >= self._slice_end:
            self._look_at_slice(now)
        if now >= self._deadline:
            raise LimitError("the grammar takes too long to work out", limit="seconds")
        if now >= self._measure_at and self._level < math.inf:
            self._measure_at = now + _BETWEEN_MEASURES
            if resident_bytes() > self._level:
                raise LimitError("the grammar takes too much memory to work out", limit="bytes")
        self._plan_look(left)

    def _look_at_slice(self, now: float) -> None:
        """Raise `SliceExceeded` if the thread has worked for as long as its slice lasts. The system
        is asked for its processor time no sooner than that can be."""
        left = self._slice_processor_end - thread_time()
        if left <= 0:
            raise SliceExceeded(
                "the slice of time is over in which the question had to be answered"
            )
        self._slice_end = now + left

    def _plan_look(self, left: float) -> None:
        """Divide the steps that are left into those before the next look and those after it."""
        self.is_timed = min(self._deadline, self._slice_end, self._level) < math.inf
        self.until_look = min(left, _BETWEEN_LOOKS) if self.is_timed else left
        self.reserve = left - self.until_look

    def _end_slice_after(self, seconds: float) -> None:
        self._slice_processor_end = min(self._slice_processor_end, thread_time() + seconds)
        self._slice_end = min(self._slice_end, monotonic() + seconds)
        self._plan_look(self.until_look + self.reserve)

    def take_bounds(self, outer: Steps | None) -> None:
        self._deadline, self._level = self._own_deadline, self._own_level
        self._slice_end = self._slice_processor_end = math.inf
        if isinstance(outer, Work):
            self._deadline = min(self._deadline, outer._deadline)
            self._level = min(self._level, outer._level)
            self._slice_end = outer._slice_end
            self._slice_processor_end = outer._slice_processor_end
        self._plan_look(self.until_look + self.reserve)

    def name(self, error: BaseException) -> None:
        """Raise a `LimitError` for recursion that is too deep; have one say what it is about."""
        if isinstance(error, RecursionError):
            raise LimitError(
                "schemas refer to each other too deep, or values nest too deep",
                limit="schema_depth",
                value=sys.getrecursionlimit(),
                construct=self._construct,
            ) from None
        if isinstance(error, LimitError):
            error.complete(value=self._bound(error.limit), construct=self._construct)

    def _bound(self, limit: str) -> float | None:
        """What a limit allows; None if it is that of an outer question."""
        if limit == "seconds" and self._own_deadline > self._deadline:
            return None
        if limit == "bytes" and self._own_level > self._level:
            return None
        return getattr(self._limits, limit, None)


CHEAP: Final = 1 / 16
"""A step that takes well under a microsecond, such as a look at one node of a grammar."""


@contextmanager
def slice_of(seconds: float) -> Generator[None]:
    """Work in this thread for `seconds` of its processor time at most: from then on, `spend` raises
    `SliceExceeded` within the block. Time in which other processes had the processor is not the
    question's.

    All tables stay usable. The question may be asked again, and begins where it has to: what was
    found out on the way and stored is not computed again. A slice within a slice ends with it.
    """
    work = Work(_ENDLESS)
    with work:
        work._end_slice_after(seconds)  # pyright: ignore[reportPrivateUsage]
        yield


_ENDLESS: Final = Limits(work=1 << 62)


def resident_bytes() -> int:
    """The memory of this process that is in use, in bytes. Where the system doesn't tell, the most
    that it has been so far."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * resource.getpagesize()
