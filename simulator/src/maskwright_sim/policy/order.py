"""Which waiting sequence is next."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.tables import Tables

OrderName: TypeAlias = Literal[
    "fcfs", "lifo", "shortest-prefill", "longest-prefill", "deadline", "cached"
]
Key: TypeAlias = Callable[[Sequence, Tables], tuple[float, float]]


def _fcfs(sequence: Sequence, tables: Tables) -> tuple[float, float]:
    return (0.0, sequence.arrival)


def _lifo(sequence: Sequence, tables: Tables) -> tuple[float, float]:
    return (0.0, -sequence.arrival)


def _shortest(sequence: Sequence, tables: Tables) -> tuple[float, float]:
    return (sequence.pending, sequence.arrival)


def _longest(sequence: Sequence, tables: Tables) -> tuple[float, float]:
    return (-sequence.pending, sequence.arrival)


def _deadline(sequence: Sequence, tables: Tables) -> tuple[float, float]:
    deadline = sequence.deadline
    return (math.inf if deadline is None else deadline, sequence.arrival)


def _cached(sequence: Sequence, tables: Tables) -> tuple[float, float]:
    return (-tables.cached(sequence), sequence.arrival)


ORDERS: dict[OrderName, Key] = {
    "fcfs": _fcfs,
    "lifo": _lifo,
    "shortest-prefill": _shortest,
    "longest-prefill": _longest,
    "deadline": _deadline,
    "cached": _cached,
}
"""For each order the key by which waiting sequences are sorted; the lowest is admitted first.
`cached` is the order of SGLang: the longest cached prefix first."""
