"""Costs fitted to steps are those that made them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from maskwright.errors import InputError
from maskwright_sim.costs.fit import fit, read_steps
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.costs.work import StepWork

TRUE = LinearCosts(0.004, 0.0005, 0.0001, place=2e-8, read=1e-7)


def steps(noise: float, seed: int = 0) -> list[tuple[StepWork, float]]:
    rng = random.Random(seed)
    made: list[tuple[StepWork, float]] = []
    for _ in range(300):
        decoding = rng.randrange(0, 32)
        work = StepWork(
            decoding,
            decoding * rng.randrange(100, 2000),
            rng.choice([0, rng.randrange(16, 512)]),
            float(rng.randrange(0, 3000)),
        )
        made.append((work, TRUE.seconds(work) * rng.uniform(1 - noise, 1 + noise)))
    return made


def test_exact_steps_give_the_costs_back() -> None:
    found = fit(steps(0.0))
    for name in ("fixed", "row", "token", "place", "read"):
        assert getattr(found.costs, name) == pytest.approx(getattr(TRUE, name), rel=1e-6)
    assert found.relative < 1e-9
    assert found.steps == 300


def test_the_stated_error_is_that_of_the_steps() -> None:
    found = fit(steps(0.1))
    assert 0.03 < found.relative < 0.07  # the median of a uniform error up to 10 %
    assert found.costs.token == pytest.approx(TRUE.token, rel=0.1)


def test_no_coefficient_is_negative() -> None:
    made = [(StepWork(rows), 0.010 - 0.0001 * rows) for rows in range(1, 20)]
    costs = fit(made).costs
    assert min(costs.fixed, costs.row, costs.token, costs.place, costs.read, costs.copy) >= 0


def test_a_file_of_steps_is_read(tmp_path: Path) -> None:
    file = tmp_path / "steps.jsonl"
    rows = [
        {"decoding": w.decoding, "prompt": w.prompt, "position": w.position, "seconds": s}
        for w, s in steps(0.0)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [w.prompt for w, _ in read_steps(file)] == [row["prompt"] for row in rows]
    file.write_text('{"decoding": 1}\n')
    with pytest.raises(InputError, match="needs decoding, prompt and seconds"):
        read_steps(file)
    with pytest.raises(InputError, match="at least two"):
        fit([(StepWork(1), 0.1)])
