"""Steps in a row that are recorded, beside those that are launched one by one, with a model that is
a few sums. `tests/engine/step/test_device.py` has a real model and a tape in place of graphs."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from maskwright.engine.on_device.automaton import AheadRow, TokenAutomaton
from maskwright.engine.on_device.decode import DrawnAhead, decode_ahead
from maskwright.engine.on_device.recorded import RecordedSteps
from maskwright.engine.on_device.resident import ResidentTables
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_plan import DevicePlan, plan_on_device
from maskwright.kernels.reference import Span
from maskwright.models import Adapter, ForwardBatch, Run
from maskwright.sampling import SampleRow, SamplingParams
from tests.engine.on_device.test_resident import random_automaton

BLOCK, BLOCKS, VOCAB, STEPS = 4, 80, 64, 5
CPU = torch.device("cpu")


def forward(batch: ForwardBatch, pool: KvPool, out: Tensor | None = None) -> Tensor:
    """Logits that depend on all tokens of a row, and on where they are."""
    memory, plan = pool.data[:, 0, 0, :, 0, 0], batch.attention
    assert isinstance(plan, DevicePlan)
    assert plan.decode is not None
    real = len(batch.blocks)
    written = batch.tokens * 100 + batch.positions + 1
    memory[batch.blocks.long(), batch.offsets.long()] = written[:real].float()
    past = memory[plan.decode.tables.long()].flatten(1)
    seen = torch.arange(past.shape[1]) <= plan.decode.start[:, None]
    sums = torch.zeros(len(batch.tokens))
    sums[: len(past)] = (past * seen).sum(1)
    logits = (sums[batch.select.long()][:, None] * torch.arange(1.0, VOCAB + 1)).sin()
    return logits if out is None else out.copy_(logits)


def planned(spans: list[Span], block_size: int) -> DevicePlan:
    del block_size
    return plan_on_device(spans)


class Repeated:
    """Records nothing: a function is called again."""

    def record(self, function: Callable[[], object]) -> Callable[[], object]:
        function()
        return function


class Case:
    """Rows of random tables with random parameters, in a pool of their own."""

    def __init__(self, recorder: Any = None) -> None:
        self.decoder: Any = SimpleNamespace(
            forward=forward, device=CPU, vocab_size=VOCAB, plan=planned
        )
        self.pool = KvPool(torch.zeros(BLOCKS + 1, 1, 2, BLOCK, 1, 1))
        self.tables = ResidentTables(VOCAB // 32, CPU, states=64, moves=256)
        self.recorded = RecordedSteps(
            *(self.decoder, self.pool, self.tables, recorder or Repeated()),
            torch.zeros(8, VOCAB),
            spare=BLOCKS,
            most_rows=8,
            most_positions=1100,
        )
        self.lines: list[str] = []
        self.recorded.record(self.lines.append)

    def draw(
        self, runs: list[Run], rows: list[AheadRow], *, recorded: bool
    ) -> list[DrawnAhead] | None:
        steps = self.recorded if recorded else None
        common = (self.decoder, self.pool, self.tables)
        return decode_ahead(*common, runs, rows, BLOCK, STEPS, recorded=steps)


def rows_of(rng: random.Random, count: int, automata: list[TokenAutomaton]) -> list[AheadRow]:
    numbers = rng.sample(range(1, BLOCKS), 4 * count)
    found: list[AheadRow] = []
    for at in range(count):
        heat = rng.choice([0.0, 1.0, 1.7])
        params = SamplingParams(temperature=heat, seed=rng.randrange(99), top_k=rng.choice([0, 9]))
        found.append(
            AheadRow(
                automaton=rng.choice(automata),
                state=rng.randrange(8),
                sample=SampleRow(params, tuple(range(rng.randrange(1, 9))), 1, rng.randrange(99)),
                left=rng.randrange(1, 20),
                last=rng.sample(range(VOCAB), rng.randrange(4)),
                table=numbers[4 * at : 4 * at + 4],
            )
        )
    return found


def test_recorded_steps_draw_what_launched_ones_do() -> None:
    """Of batches that grow and shrink, so that places are used again."""
    rng, one, other = random.Random(3), Case(), Case()
    automata = [random_automaton(seed, 8) for seed in range(3)]
    lengths: set[int] = set()
    for _ in range(25):
        rows = rows_of(rng, rng.randrange(1, 9), automata)
        runs = [Run([rng.randrange(VOCAB)], rng.randrange(10), row.table, 1) for row in rows]
        expected = one.draw(runs, rows, recorded=False)
        assert other.draw(runs, rows, recorded=True) == expected
        assert expected is not None
        lengths |= {len(row.tokens) for row in expected}
        # Places without a row write to the spare block alone.
        assert other.pool.data[:BLOCKS].equal(one.pool.data[:BLOCKS])
    assert other.recorded.replayed == 25 * STEPS
    assert lengths == {*range(1, STEPS + 1)}
    assert one.recorded.replayed == 0


def test_rows_that_no_recorded_step_holds_are_launched() -> None:
    case = Case()
    rows = rows_of(random.Random(1), 9, [random_automaton(0, 8)])
    runs = [Run([1], 3, row.table, 1) for row in rows]
    assert case.draw(runs, rows, recorded=True) is not None
    assert case.recorded.run(runs[:8], rows[:8], [0] * 8, STEPS) is not None
    assert case.recorded.replayed == STEPS
    far, adapted = Run([1], 2046, [1] * 512, 1), Run([1], 3, [1], 1, Adapter({}))
    assert case.recorded.run([far], rows[:1], [0], STEPS) is None
    assert case.recorded.run([adapted], rows[:1], [0], STEPS) is None
    assert case.recorded.replayed == STEPS


def test_progress_is_reported_and_a_failure_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert Case().lines == [f"recording steps in a row: {done} of 4" for done in range(4)]
    recorder = Repeated()
    with patch.object(recorder, "record", side_effect=RuntimeError("out of memory")):
        case = Case(recorder)
    assert "can't be recorded (out of memory)" in caplog.text
    rows = rows_of(random.Random(1), 2, [random_automaton(0, 8)])
    runs = [Run([1], 3, row.table, 1) for row in rows]
    assert case.draw(runs, rows, recorded=True) is not None
    assert case.recorded.replayed == 0
