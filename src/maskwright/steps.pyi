"""Counting the steps of what is being worked on in a thread.

Every loop that can grow with the input counts its own, so counting takes a few nanoseconds where
compiled code asks. What is done when the steps are used up is `limits.Work`'s.
"""

from types import TracebackType

class Steps:
    """The steps that one question may still take: entered while it is worked on, in one thread.

    A class below it says what its methods `bound`, `take_bounds`, `look` and `name` do."""

    budget: float
    """The steps of a whole question."""
    until_look: float
    """Steps until the next look at clock and memory, or at their end if neither is bounded."""
    reserve: float
    """Steps that are left after those."""
    is_bounded: bool
    """Whether the question has a bound of its own on time or memory."""
    is_timed: bool
    """Whether time or memory was bounded when it was last worked on, or will be."""

    def begin(self) -> None:
        """Begin another question, unless it is part of the one being worked on."""
    @property
    def is_idle(self) -> bool:
        """Whether no question is being worked on."""
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def bound(self) -> None:
        """Set the question's own bounds on time and memory, now that it begins."""
    def take_bounds(self, outer: Steps | None) -> None:
        """Take the bounds on time and memory of this question and of an outer one."""
    def look(self) -> None:
        """Raise the error of a limit that has been passed; otherwise plan the next look."""
    def name(self, error: BaseException) -> None:
        """See to an error that ends the question."""

def spend(steps: float = 1, /) -> None:
    """Count steps of what is being worked on in this thread; free outside of any question.

    Raises `LimitError` where that makes too many, takes too long or too much memory, and
    `SliceExceeded` where a slice is over (see `limits.slice_of`). The caller may be stopped at any
    call, so it first computes and then stores: tables must be usable whatever call was the last.
    """
