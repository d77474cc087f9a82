"""What the last requests of one class were like, and what may be expected of the next."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from itertools import accumulate

WINDOW = 256
"""Requests that are remembered."""

ENOUGH = 32
"""Requests after which they are believed; until then a request is taken by its hard cap."""

PERCENT = 95
"""Of a hundred answers, so many take no more than what is reserved."""


class History:
    """Lengths of answers, tokens a step and shares of prompts found in the cache: of the last
    requests of one class that came to an end of their own."""

    def __init__(self) -> None:
        self._last: deque[tuple[int, int, int, int]] = deque()
        self._lengths: list[int] = []
        self._longer: list[int] | None = None
        self._steps = self._tokens = self._prompt = self._cached = 0

    def note(self, *, output: int, steps: int, prompt: int, cached: int) -> None:
        """A request of `prompt` tokens, of which `cached` were found, was answered with `output`
        tokens in `steps` steps."""
        if len(self._last) == WINDOW:
            self._count(*self._last[0], sign=-1)
            self._lengths.remove(self._last.popleft()[0])
        self._last.append((output, steps, prompt, cached))
        self._count(output, steps, prompt, cached, sign=1)
        insort(self._lengths, output)
        self._longer = None

    def reserved(self, cap: int) -> int:
        """Tokens to be reserved for an answer of at most `cap`: the 95th percentile of those seen,
        or the cap."""
        if len(self._lengths) < ENOUGH:
            return cap
        return min(cap, self._lengths[-(-len(self._lengths) * PERCENT // 100) - 1])

    def to_come(self, done: int, cap: int) -> float:
        """Tokens that an answer of at most `cap`, of which there are `done`, goes on for: the mean
        of those seen that were longer than that, or all that may come; 1 at least."""
        most = max(1, cap - done)
        if len(self._lengths) < ENOUGH:
            return most
        if self._longer is None:
            self._longer = [0, *accumulate(reversed(self._lengths))]
        count = len(self._lengths) - bisect_right(self._lengths, done)
        return max(1.0, min(most, self._longer[count] / count - done)) if count else 1.0

    def one_to_come(self, done: int, cap: int, share: float) -> float:
        """As `to_come`, where `share` of those seen that were longer came to an end by then. Of
        several answers that go on, one ends soon and one late, whatever their mean."""
        most = max(1, cap - done)
        if len(self._lengths) < ENOUGH:
            return most
        first = bisect_right(self._lengths, done)
        count = len(self._lengths) - first
        return min(most, self._lengths[first + int(share * count)] - done) if count else 1.0

    @property
    def a_step(self) -> float:
        """Tokens that a step gives a request, those that its grammar forces and drafts that come
        true counted in; 1 at least."""
        return max(1.0, self._tokens / self._steps) if self._steps else 1.0

    @property
    def computed(self) -> float:
        """The share of a prompt that has to be computed, since the cache doesn't have it."""
        return 1 - self._cached / self._prompt if len(self._last) >= ENOUGH else 1.0

    def _count(self, output: int, steps: int, prompt: int, cached: int, *, sign: int) -> None:
        self._tokens += sign * output
        self._steps += sign * steps
        self._prompt += sign * prompt
        self._cached += sign * cached
