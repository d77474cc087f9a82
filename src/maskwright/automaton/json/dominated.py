"""Dominated threads: all that they can still become, another thread can become as well.

An item or member that may fulfil several requirements makes a thread for each set of them. Once its
value is known, the thread that has fulfilled the most of them is as good as all the others.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress

_Fulfilled = tuple[int, ...]
"""How far each requirement is fulfilled, where more is never worse."""


def drop_dominated(threads: Iterable[Thread]) -> tuple[Thread, ...]:
    """The threads, none of which is in the middle of a value, without the dominated ones."""
    threads = tuple(threads)
    if len(threads) < 2:
        return threads
    known = [_split(thread) for thread in threads]
    alike: dict[Thread, list[_Fulfilled]] = {}
    for plain, fulfilled in known:
        alike.setdefault(plain, []).append(fulfilled)
    return tuple(
        thread
        for thread, (plain, fulfilled) in zip(threads, known, strict=True)
        if not any(_dominates(other, fulfilled) for other in alike[plain])
    )


def _split(thread: Thread) -> tuple[Thread, _Fulfilled]:
    """A thread as if it had fulfilled nothing, and what it has fulfilled."""
    progress: Progress | None = thread.progress
    fulfilled: _Fulfilled = ()
    if isinstance(progress, ObjectProgress) and progress.fulfilled:
        fulfilled = tuple(progress.fulfilled >> at & 1 for at in range(len(progress.shape.some)))
        progress = replace(progress, fulfilled=0)
    elif isinstance(progress, ObjectProgress):
        fulfilled = (0,) * len(progress.shape.some)
    elif isinstance(progress, ArrayProgress) and progress.counts:
        pairs = list(zip(progress.shape.contains, progress.counts, strict=True))
        fulfilled = tuple(count for each, count in pairs if each.most is None)
        bound = tuple(0 if each.most is None else count for each, count in pairs)
        progress = replace(progress, counts=bound)
    return replace(thread, progress=progress), fulfilled


def _dominates(left: _Fulfilled, right: _Fulfilled) -> bool:
    return left != right and all(mine >= its for mine, its in zip(left, right, strict=True))
