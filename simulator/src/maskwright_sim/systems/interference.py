"""How much longer a step takes for the prompts and answers that share it (TetriInfer's study of
interference), by the cost model alone."""

from __future__ import annotations

from collections.abc import Iterable

from maskwright_sim.costs.work import CostModel, StepWork
from maskwright_sim.systems.claim import Rows


def interference(costs: CostModel) -> dict[str, Rows]:
    """A table for each pair of phases. `times` compares with the first row of a table."""
    return {
        "prompts of 512 tokens in one step, ms": _rows(
            costs, "prompts", ((n, StepWork(prompt=512 * n, position=256)) for n in (1, 2, 4, 8))
        ),
        "a decode step beside a prompt, ms": _rows(
            costs,
            "prompt tokens",
            ((n, StepWork(8, 8 * 100, n, n / 2)) for n in (0, 64, 256, 512, 1024, 2048)),
        ),
        "a prompt of 18 tokens beside light decodes, ms": _rows(
            costs, "decodes", ((n, StepWork(n, n * 500, 18, 9.0)) for n in (0, 7, 31, 127, 255))
        ),
        "128 decodes, of which some are heavy, ms": _rows(
            costs,
            "heavy",
            ((n, StepWork(128, (128 - n) * 100 + n * 1500)) for n in (0, 16, 32, 64, 128)),
        ),
    }


def _rows(costs: CostModel, name: str, works: Iterable[tuple[int, StepWork]]) -> Rows:
    taken = [(count, costs.seconds(work)) for count, work in works]
    alone = taken[0][1]
    return [{name: count, "ms": 1000 * took, "times": took / alone} for count, took in taken]
