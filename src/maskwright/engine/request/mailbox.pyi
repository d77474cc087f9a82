"""What a request has published and its reader has not taken yet: the part of a `Generation` that is
at work in each step."""

import threading
from collections import deque

from maskwright.engine.request.request import Delta
from maskwright.engine.request.trace import Record
from maskwright.engine.request.wake_ups import Waiter

class Mailbox:
    """Deltas from one thread to one reader. The lock of `_ready` is held where the rest is read or
    changed together."""

    record: Record
    _ready: threading.Condition
    _unread: list[Delta]
    _apart: deque[Delta]
    """Deltas that aren't joined with others, which come before all of `_unread`."""
    _waiter: Waiter | None
    _wakes_once: bool
    """Whether the reader is woken only for the last delta."""
    _streams: bool
    """Whether the reader takes deltas as they come, so that it can be behind."""
    _throttled: bool
    _waiting: int
    """Threads that wait for `_ready`."""

    _filled: bool
    """Whether there is something to read."""

    def __init__(self, buffer: int, record: Record) -> None:
        """`buffer`: unread tokens from which on a reader that streams is behind. `record`: the
        times and counts of the request."""

    def publish(self, delta: Delta) -> None:
        """Add `delta` to what the reader will take. Only the engine calls this; it never blocks."""

    def publish_apart(self, delta: Delta) -> None:
        """Add a delta that is not joined with others; it comes before all that are published
        later. Only the engine calls this, before the first call of `publish`."""

    def throttle(self) -> bool:
        """Whether the reader is so far behind that the request should pause. If so, `resume` is
        called when the reader has caught up. Only the engine calls this."""

    def _take_unread(self) -> list[Delta]:
        """Return all unread deltas, and empty the box of them. The caller holds the lock."""
