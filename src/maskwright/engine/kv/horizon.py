"""How far back the prefix cache reaches in time, which one number can tell a router.

Blocks are evicted least recently used first. So what was used after the last use of every evicted
block is cached, and of what was used before, something may be gone.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from maskwright.engine.kv.prefix import PrefixTree

MOST_NOTES: Final = 4096


class CacheHorizon:
    """Translates the counter of a prefix tree into times. `note` must be called by the thread that
    uses the tree; `time` may be read by any."""

    def __init__(self, tree: PrefixTree) -> None:
        self.time: float | None = None
        """The time after whose end nothing that was used has been evicted; None before the first
        eviction."""
        self._tree = tree
        self._evicted = 0
        self._notes: deque[tuple[int, float]] = deque(maxlen=MOST_NOTES)
        """Values of the tree's counter, and the times when they were first seen."""

    def note(self, now: float) -> None:
        """Note the time `now` after a step. The tree was used at that time at the latest."""
        if not self._notes or self._notes[-1][0] < self._tree.clock:
            self._notes.append((self._tree.clock, now))
        if self._tree.evicted_stamp > self._evicted:
            self._evicted = self._tree.evicted_stamp
            while self._notes[0][0] < self._evicted:
                self._notes.popleft()
            self.time = self._notes[0][1]
