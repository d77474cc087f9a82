"""Which block of a full store goes next.

- `lru`: the one that was not used for the longest time.
- `lfu`: the one that was used least often, and of these the one that was not used for the longest
  time. It keeps prefixes that many requests share through a flood of prompts that come once.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Final, Literal, TypeAlias

StorePolicy: TypeAlias = Literal["lru", "lfu"]
STORE_POLICIES: Final = ("lru", "lfu")


class EvictionOrder:
    """The order of the keys of one store. A use takes time logarithmic in their number."""

    def __init__(self, policy: StorePolicy) -> None:
        self._counts = policy == "lfu"
        self._clock = itertools.count()
        self._uses: dict[bytes, tuple[int, int]] = {}
        """The number of uses, 0 under LRU, and the time of the last one."""
        self._heap: list[tuple[tuple[int, int], bytes]] = []  # with outdated entries

    def __len__(self) -> int:
        return len(self._uses)

    def use(self, key: bytes) -> None:
        """Note that `key` was used; one that is not in the order enters it."""
        count = self._uses[key][0] if key in self._uses else 0
        self._uses[key] = place = (count + self._counts, next(self._clock))
        heapq.heappush(self._heap, (place, key))
        if len(self._heap) > 2 * len(self._uses) + 64:
            self._heap = [(place, key) for key, place in self._uses.items()]
            heapq.heapify(self._heap)

    def discard(self, key: bytes) -> None:
        """Remove `key` if it is in the order."""
        self._uses.pop(key, None)

    def pop(self) -> bytes:
        """Remove the key that goes next, and return it. Raises IndexError if there is none."""
        while True:
            place, key = heapq.heappop(self._heap)
            if self._uses.get(key) == place:
                del self._uses[key]
                return key
