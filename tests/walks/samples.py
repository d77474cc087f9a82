"""Seeded samples of long lists of cases, so that a run takes minutes; `--slow` runs every case."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def sampled(cases: Sequence[Any], count: int, *, seed: int = 0) -> list[ParameterSet]:
    """All the cases as parameters of a test, with all but `count` of them marked as slow: which
    are left is drawn by `seed`. A case is a `pytest.param`, or the one argument of the test."""
    kept = set(Random(seed).sample(range(len(cases)), min(count, len(cases))))
    return [
        _parameter(case) if at in kept else _slow(_parameter(case)) for at, case in enumerate(cases)
    ]


def _parameter(case: Any) -> ParameterSet:
    return case if isinstance(case, ParameterSet) else pytest.param(case)


def _slow(case: ParameterSet) -> ParameterSet:
    return pytest.param(*case.values, marks=(*case.marks, pytest.mark.slow), id=case.id)
