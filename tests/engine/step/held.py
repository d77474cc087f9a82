"""Steps of a running engine that wait until a test lets them go: what is submitted meanwhile is
there together, however the system shares its time among threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from maskwright.engine import Engine
from tests.bounds import PATIENCE


@contextmanager
def held_steps(engine: Engine) -> Iterator[Callable[[], None]]:
    """No forward is computed before the block ends, or before what it gives is called."""
    go = threading.Event()
    forward = engine._runner.forward

    def waiting(plan):
        assert go.wait(PATIENCE), "the steps were held for ever"
        return forward(plan)

    engine._runner.forward = waiting
    try:
        yield go.set
    finally:
        go.set()
