"""What the router remembers of the prompts that it has sent: by worker, and by store.

A store of keys and values on disk belongs to all servers of a machine that were given its folder.
Whatever prompt one of them has answered, all of them can fetch from there instead of computing it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from contextlib import suppress
from typing import Final, TypeVar

MOST_DIGESTS: Final = 1 << 14
"""Most beginnings of prompts that are remembered of a worker."""

MOST_STORED: Final = 1 << 17
"""Most beginnings of prompts that are remembered of a store, which is larger than a cache."""

MOST_STORES: Final = 256

Key = TypeVar("Key", bound=Hashable)


class Recent(OrderedDict[Key, float]):
    """The most recently used keys, at most `most`, with the times of their last use."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def note(self, key: Key) -> None:
        self[key] = time.monotonic()
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)

    def forget_before(self, moment: float) -> None:
        """Forget the keys whose last use was before `moment`."""
        while self and next(iter(self.values())) < moment:
            self.popitem(last=False)


class StoredPrompts:
    """The beginnings of prompts in each store, by the names that workers tell with their checks."""

    def __init__(self) -> None:
        self._stores: OrderedDict[str, Recent[int]] = OrderedDict()

    def of(self, store: str) -> Recent[int]:
        """Return the digests of what is in a store."""
        found = self._stores.setdefault(store, Recent(MOST_STORED))
        self._stores.move_to_end(store)
        if len(self._stores) > MOST_STORES:
            self._stores.popitem(last=False)
        return found

    def note(self, store: str, digests: Iterable[int], cached: int) -> None:
        """Note that a worker with `store` has answered a prompt, of which it had the first `cached`
        digests in its own cache. The rest was fetched or written, which both count as uses there;
        what was in its cache is written unless it is there."""
        there = self.of(store)
        for number, digest in enumerate(digests):
            if number >= cached or digest not in there:
                there.note(digest)

    def forget_evicted(self, store: str, told: str) -> None:
        """Forget what may be gone from a store, if a worker tells for how many seconds blocks stay
        there."""
        with suppress(ValueError):
            self.of(store).forget_before(time.monotonic() - float(told))
