"""Threads that others outdo: whatever they may still become, some other thread may become as well.

An item or member that may be one of several things makes a thread for each set of them. Once its
value is known, the thread that has met the most of what is wanted is as good as all the others.
"""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress

_Gains = tuple[int, ...]
"""How much of each thing has been met, where more is never worse."""


def drop_dominated(threads: Iterable[Thread]) -> tuple[Thread, ...]:
    """Threads behind a value (or before any), without those that others outdo."""
    threads = tuple(threads)
    if len(threads) < 2:
        return threads
    known = [_split(thread) for thread in threads]
    alike: dict[Thread, list[_Gains]] = {}
    for plain, gains in known:
        alike.setdefault(plain, []).append(gains)
    return tuple(
        thread
        for thread, (plain, gains) in zip(threads, known, strict=True)
        if not any(_outdoes(other, gains) for other in alike[plain])
    )


def _split(thread: Thread) -> tuple[Thread, _Gains]:
    """A thread as if it had met nothing, and what it has met."""
    progress: Progress | None = thread.progress
    gains: _Gains = ()
    if isinstance(progress, ObjectProgress) and progress.fulfilled:
        gains = tuple(progress.fulfilled >> at & 1 for at in range(len(progress.shape.some)))
        progress = progress._replace(fulfilled=0)
    elif isinstance(progress, ObjectProgress):
        gains = (0,) * len(progress.shape.some)
    elif isinstance(progress, ArrayProgress) and progress.counts:
        pairs = list(zip(progress.shape.contains, progress.counts, strict=True))
        gains = tuple(count for each, count in pairs if each.most is None)
        bound = tuple(0 if each.most is None else count for each, count in pairs)
        progress = progress._replace(counts=bound)
    return thread._replace(progress=progress), gains


def _outdoes(left: _Gains, right: _Gains) -> bool:
    return left != right and all(mine >= its for mine, its in zip(left, right, strict=True))
