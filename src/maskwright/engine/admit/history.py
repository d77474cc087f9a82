"""Statistics of the last requests of one service class, and estimates for the next one."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from itertools import accumulate

WINDOW = 256
"""Number of requests that are kept."""

ENOUGH = 32
"""Number of requests from which on estimates are made; before that, the token limit is used."""

PERCENT = 95
"""Percentile of answer lengths that is reserved."""


class History:
    """Answer lengths, tokens per step and shares of cached prompt tokens of the last `WINDOW`
    requests of one class that came to their own end."""

    def __init__(self) -> None:
        self._last: deque[tuple[int, int, int, int]] = deque()
        self._lengths: list[int] = []
        self._longer: list[int] | None = None
        self._steps = self._tokens = self._prompt = self._cached = 0

    def note(self, *, output: int, steps: int, prompt: int, cached: int) -> None:
        """Add a request with `prompt` prompt tokens, of which `cached` were in the cache, and an
        answer of `output` tokens in `steps` steps."""
        if len(self._last) == WINDOW:
            self._count(*self._last[0], sign=-1)
            self._lengths.remove(self._last.popleft()[0])
        self._last.append((output, steps, prompt, cached))
        self._count(output, steps, prompt, cached, sign=1)
        insort(self._lengths, output)
        self._longer = None

    def reserved(self, cap: int) -> int:
        """Tokens to reserve for an answer of at most `cap` tokens: the 95th percentile of the
        lengths seen, at most `cap`."""
        if len(self._lengths) < ENOUGH:
            return cap
        return min(cap, self._lengths[-(-len(self._lengths) * PERCENT // 100) - 1])

    def to_come(self, done: int, cap: int) -> float:
        """Expected further tokens of an answer of at most `cap` tokens that has `done` already:
        the mean over the longer answers seen, or all that are allowed if too few were seen; at
        least 1."""
        most = max(1, cap - done)
        if len(self._lengths) < ENOUGH:
            return most
        if self._longer is None:
            self._longer = [0, *accumulate(reversed(self._lengths))]
        count = len(self._lengths) - bisect_right(self._lengths, done)
        return max(1.0, min(most, self._longer[count] / count - done)) if count else 1.0

    def one_to_come(self, done: int, cap: int, share: float) -> float:
        """As `to_come`, but the quantile `share` of the longer answers instead of their mean, so
        that several running answers are expected to end one after another, not all at one time."""
        most = max(1, cap - done)
        if len(self._lengths) < ENOUGH:
            return most
        first = bisect_right(self._lengths, done)
        count = len(self._lengths) - first
        return min(most, self._lengths[first + int(share * count)] - done) if count else 1.0

    @property
    def a_step(self) -> float:
        """Mean tokens that a step adds to a request, including forced and accepted draft tokens; at
        least 1."""
        return max(1.0, self._tokens / self._steps) if self._steps else 1.0

    @property
    def computed(self) -> float:
        """The expected share of a prompt that is not in the cache and has to be computed."""
        return 1 - self._cached / self._prompt if len(self._last) >= ENOUGH else 1.0

    def _count(self, output: int, steps: int, prompt: int, cached: int, *, sign: int) -> None:
        self._tokens += sign * output
        self._steps += sign * steps
        self._prompt += sign * prompt
        self._cached += sign * cached
