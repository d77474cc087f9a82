"""A stand-in for a device that does what it is asked for in order, and in the last moment.

A GPU does it at some time between the launch and the moment at which its results are read. Here
steps in a row, and what is asked for after them, wait until somebody reads. So what the host does
between a launch and its reading can't help the device, and shows if it harms it.

The device has a clock too: each step takes it `seconds`, and the host's time is what `work` adds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from maskwright.engine.on_device.decode import DecodingRows, DrawnAhead


class LateDrawn:
    """What steps will have drawn; see `DrawnLater`."""

    def __init__(self, device: LateDevice, ready: float) -> None:
        self._device, self._ready = device, ready
        self.found: list[DrawnAhead] | None = None

    def read(self) -> list[DrawnAhead]:
        self._device.host = max(self._device.host, self._ready)
        while self.found is None:
            self._device.do_next()
        return self.found


class LateDevice:
    """`host` and `free`: until when the host and the device have been busy. `idle`: for how long
    the device had nothing to do between launches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float = 1.0) -> None:
        self._asked: deque[Callable[[], object]] = deque()
        self._seconds = seconds
        self.host = self.free = self.idle = 0.0
        self.launches = self.most_unread = self.unread = 0
        own_launch = DecodingRows.launch

        def launch(rows: DecodingRows, count: int, tables: Sequence[Any]) -> LateDrawn:
            """Tables are copied now, as an upload does."""
            if self.launches:
                self.idle += max(0.0, self.host - self.free)
            self.launches += 1
            self.free = max(self.host, self.free) + count * self._seconds
            drawn = LateDrawn(self, self.free)
            copied = [None if table is None else list(table) for table in tables]

            def compute() -> None:
                found = own_launch(rows, count, copied)
                assert found is not None
                drawn.found = found.read()
                self.unread -= 1

            self._asked.append(compute)
            self.unread += 1
            self.most_unread = max(self.most_unread, self.unread)
            return drawn

        monkeypatch.setattr(DecodingRows, "launch", launch)

    def work(self, seconds: float) -> None:
        """Let the host work for so long."""
        self.host += seconds

    def in_order(self, function: Callable[..., object]) -> Callable[..., None]:
        """Have the device do `function` after what it has been asked for so far."""

        def ask(*args: Any) -> None:
            self._asked.append(partial(function, *args))
            if not self.unread:
                self.finish()

        return ask

    def do_next(self) -> None:
        self._asked.popleft()()

    def finish(self) -> None:
        """Do all that has been asked for."""
        while self._asked:
            self.do_next()
