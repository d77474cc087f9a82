"""The blocks that one waiting sequence gets from the stores."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

BATCH: Final = 16
"""Blocks that arrive before the engine is woken, so that it needn't be for each."""


class Fetch:
    """`keys`: the blocks' keys by number, counted from the beginning of the prompt.
    `whole`: blocks are of use only together, as those inside an attention window are."""

    def __init__(self, keys: Mapping[int, bytes], *, whole: bool) -> None:
        self.keys = keys
        self._whole = whole
        self._left = sorted(keys, reverse=True)
        """Numbers of blocks that were not taken yet, the next one last."""
        self._contents: dict[int, bytes | None] = {}
        self._lock = threading.Lock()

    def deliver(self, number: int, contents: bytes | None) -> bool:
        """Take a block in, from any thread; None for one that is damaged or gone. Returns whether
        the engine should be woken."""
        with self._lock:
            self._contents[number] = contents
            count = len(self._contents)
        return contents is None or count % BATCH == 0 or count == len(self.keys)

    def take(self, most: int) -> dict[int, bytes]:
        """Return the next blocks that have arrived, at most `most` of them, or all if they are of
        use only together. After a block that is lost, none is returned."""
        taken: dict[int, bytes] = {}
        with self._lock:
            if self._whole and any(number not in self._contents for number in self._left):
                return {}
            while self._left and (self._whole or len(taken) < most):
                contents = self._contents.get(self._left[-1])
                if contents is None:
                    break
                taken[self._left.pop()] = contents
        return {} if self._whole and self._left else taken

    @property
    def ready(self) -> bool:
        """Whether there is something to take, or nothing more to wait for."""
        with self._lock:
            if self._whole:
                return all(number in self._contents for number in self._left)
            return not self._left or self._left[-1] in self._contents

    @property
    def over(self) -> bool:
        """Whether nothing more will be returned by `take`."""
        with self._lock:
            if not self._left:
                return True
            if self._whole and any(number not in self._contents for number in self._left):
                return False
            lost = [n for n in self._left if n in self._contents and self._contents[n] is None]
            return bool(lost) if self._whole else self._left[-1] in lost
