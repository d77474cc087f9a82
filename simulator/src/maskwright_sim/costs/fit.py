"""Costs fitted to measured steps by least squares, with the error of the fit.

A measured step is an object with `decoding` (decoded tokens), `prompt` (prompt tokens), `seconds`,
and optionally `context`, `position` and `copied` as in `StepWork`: a line of a JSON Lines file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.costs.work import StepWork

NAMES: Final = ("fixed", "row", "token", "place", "read", "copy")


class CostFit(Immutable):
    """`costs` fitted to `steps` measured steps. `error`: the root of the mean squared difference
    in seconds; `relative`: the median of the absolute differences, divided by the durations."""

    costs: LinearCosts
    steps: int
    error: float
    relative: float


def fit(measured: Sequence[tuple[StepWork, float]]) -> CostFit:
    """Fit costs, none of them negative, to pairs of a step's work and its seconds. Each step is
    weighted by the inverse of its duration, so that relative errors count. Raises InputError for
    fewer than two steps or a duration that is not positive."""
    if len(measured) < 2 or any(seconds <= 0 for _, seconds in measured):
        raise InputError("a fit needs at least two steps with durations above 0", param="steps")
    rows = np.array([_features(work) for work, _ in measured], np.float64)
    seconds = np.array([took for _, took in measured], np.float64)
    found = _not_negative(rows / seconds[:, None], np.ones(len(seconds)))
    off = rows @ found - seconds
    costs = LinearCosts(**dict(zip(NAMES, found.tolist(), strict=True)))
    return CostFit(
        costs,
        len(seconds),
        float(np.sqrt(np.mean(off**2))),
        float(np.median(np.abs(off) / seconds)),
    )


def read_steps(path: str | Path) -> list[tuple[StepWork, float]]:
    """Read measured steps from a JSON Lines file. Raises InputError for what is not one."""
    measured: list[tuple[StepWork, float]] = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {path}: {error}", param="fit") from None
    for number, line in enumerate(lines, 1):
        try:
            row = cast(dict[str, Any], json.loads(line))
            work = StepWork(
                int(row["decoding"]),
                int(row.get("context", 0)),
                int(row["prompt"]),
                float(row.get("position", 0.0)),
                int(row.get("copied", 0)),
            )
            measured.append((work, float(row["seconds"])))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError(
                f"{path}:{number} is no measured step; it needs decoding, prompt and seconds",
                param="fit",
            ) from None
    return measured


def _features(work: StepWork) -> tuple[float, ...]:
    return (1.0, work.decoding, work.prompt, work.prompt_positions, work.context, work.copied)


def _not_negative(rows: NDArray[np.float64], aims: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least squares with no negative coefficient: the column with the most negative coefficient is
    left out until none is negative. Columns are scaled first, and columns of zeros get 0."""
    scale = np.sqrt((rows**2).sum(axis=0))
    kept = [column for column in range(rows.shape[1]) if scale[column] > 0]
    found = np.zeros(rows.shape[1])
    while kept:
        solved, *_ = np.linalg.lstsq(rows[:, kept] / scale[kept], aims, rcond=1e-9)
        if solved.min() >= 0:
            found[kept] = solved / scale[kept]
            break
        kept.pop(int(solved.argmin()))
    return found
