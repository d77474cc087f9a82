"""Steps in a row that are recorded, beside those that are launched one by one, with a model that is
a few sums. `tests/engine/step/test_device.py` has a real model and a tape in place of graphs."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from maskwright.engine.on_device.automaton import AheadRow, TokenAutomaton
from maskwright.engine.on_device.decode import DecodingRows, DrawnAhead, begin_steps
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
    """Records nothing: a function is called again. `recorded` counts the functions."""

    recorded = 0

    def record(self, function: Callable[[], object]) -> Callable[[], object]:
        self.recorded += 1
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

    def begin(self, runs: list[Run], rows: list[AheadRow], *, recorded: bool) -> DecodingRows:
        steps = self.recorded if recorded else None
        common = (self.decoder, self.pool, self.tables)
        begun = begin_steps(*common, runs, rows, BLOCK, STEPS, recorded=steps)
        assert begun is not None
        return begun

    def draw(self, runs: list[Run], rows: list[AheadRow], *, recorded: bool) -> list[DrawnAhead]:
        drawn = self.begin(runs, rows, recorded=recorded).launch(STEPS, [run.table for run in runs])
        assert drawn is not None
        return drawn.read()


def rows_of(rng: random.Random, count: int, automata: list[TokenAutomaton]) -> list[AheadRow]:
    found: list[AheadRow] = []
    for _ in range(count):
        heat = rng.choice([0.0, 1.0, 1.7])
        params = SamplingParams(temperature=heat, seed=rng.randrange(99), top_k=rng.choice([0, 9]))
        found.append(
            AheadRow(
                automaton=rng.choice(automata),
                state=rng.randrange(8),
                sample=SampleRow(params, tuple(range(rng.randrange(1, 9))), 1, rng.randrange(99)),
                left=rng.randrange(1, 20),
                last=rng.sample(range(VOCAB), rng.randrange(4)),
            )
        )
    return found


def runs_of(rng: random.Random, count: int, blocks: int = 4) -> list[Run]:
    """Of one token each, in blocks of their own."""
    numbers = iter(rng.sample(range(1, BLOCKS), blocks * count))
    return [
        Run([rng.randrange(VOCAB)], rng.randrange(10), [next(numbers) for _ in range(blocks)], 1)
        for _ in range(count)
    ]


def test_recorded_steps_draw_what_launched_ones_do() -> None:
    """Of batches that grow and shrink, so that places are used again."""
    recorder = Repeated()
    rng, one, other = random.Random(3), Case(), Case(recorder)
    automata = [random_automaton(seed, 8) for seed in range(3)]
    lengths: set[int] = set()
    for _ in range(25):
        rows = rows_of(rng, rng.randrange(1, 9), automata)
        runs = runs_of(rng, len(rows))
        expected = one.draw(runs, rows, recorded=False)
        assert other.draw(runs, rows, recorded=True) == expected
        lengths |= {len(row.tokens) for row in expected}
        # Places without a row write to the spare block alone.
        assert other.pool.data[:BLOCKS].equal(one.pool.data[:BLOCKS])
    assert other.recorded.replayed == 25 * STEPS
    assert recorder.recorded == 2, "of up to four rows and of up to eight"
    assert lengths == {*range(1, STEPS + 1)}
    assert one.recorded.replayed == 0


@pytest.mark.parametrize("recorded", [False, True])
def test_steps_are_launched_before_the_last_ones_are_read(recorded: bool) -> None:
    """Some steps at a time, blocks come as they are needed, and a table may be a longer one with
    other blocks. The rows draw what they do in one launch; those that are to stop, nothing more."""
    rng = random.Random(5)
    automata = [random_automaton(seed, 8) for seed in range(3)]
    stopped = 0
    for _ in range(20):
        whole, parts = Case(), Case()
        rows, runs = rows_of(rng, 6, automata), runs_of(rng, 6, 9)
        own = [run.table for run in runs]
        expected = whole.begin(runs, rows, recorded=recorded).launch(12, own)
        assert expected is not None
        begun, launched = parts.begin(runs, rows, recorded=recorded), []
        gone = {number for number in range(6) if rng.random() < 0.2}
        for launch in range(4):
            # The positions of all steps so far, and of these.
            needed = [-(-(run.start + 3 * (launch + 1)) // BLOCK) for run in runs]
            tables = [table[:count] for table, count in zip(own, needed, strict=True)]
            if launch == 2:
                tables = [None if number in gone else each for number, each in enumerate(tables)]
                parts.pool.data[[block for number in gone for block in own[number]]] = float("nan")
            elif launch == 3:
                tables = [None if number in gone else each for number, each in enumerate(tables)]
            launched.append(begun.launch(3, tables))
        found = [each.read() for each in launched]
        for number, once in enumerate(expected.read()):
            each = [one[number] for one in found]
            tokens = [token for one in each for token in one.tokens]
            if number in gone:
                stopped += len(once.tokens) > 6
                assert tokens == once.tokens[:6]
                assert each[-1].stopped
                assert parts.pool.data[own[number]].isnan().all(), "a block was written"
            else:
                assert tokens == once.tokens
                assert [one.error for one in each if one.error] == [once.error][: bool(once.error)]
                assert (each[-1].stopped, each[-1].rest) == (once.stopped, once.rest)
    assert stopped, "rows that would have gone on"


def test_recorded_steps_end_where_their_shape_does() -> None:
    case = Case()
    rows, table = rows_of(random.Random(1), 1, [random_automaton(0, 8)]), [*range(1, 80)] * 5
    begun = case.begin([Run([1], 1024 - STEPS, table, 1)], rows, recorded=True)
    assert begun.launch(STEPS, [table]) is not None
    assert begun.launch(1, [table]) is None
    assert case.recorded.replayed == STEPS


def test_rows_that_no_recorded_step_holds_are_launched() -> None:
    case = Case()
    rows = rows_of(random.Random(1), 9, [random_automaton(0, 8)])
    runs = runs_of(random.Random(1), 9)
    assert len(case.draw(runs, rows, recorded=True)) == 9
    assert case.recorded.replayed == 0
    assert len(case.draw(runs[:8], rows[:8], recorded=True)) == 8
    assert case.recorded.replayed == STEPS
    far, adapted = Run([1], 2046, [1] * 512, 1), Run([1], 3, [1], 1, Adapter({}))
    assert case.recorded.begin([far], rows[:1], [0], STEPS) is None
    assert case.recorded.begin([adapted], rows[:1], [0], STEPS) is None
    assert case.recorded.begin(runs[:1], rows[:1], [0], STEPS) is not None


def test_a_step_can_be_launched_without_rows() -> None:
    """So that its kernels are compiled."""
    case = Case()
    case.recorded.launch()
    assert not case.pool.data[:BLOCKS].any()
    assert case.recorded.replayed == 0


@pytest.mark.parametrize("late", [False, True])
def test_a_failure_is_logged_and_the_steps_are_launched(
    late: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether it comes before the first step was done or, as while a GPU records, after it."""

    class Failing(Repeated):
        def record(self, function: Callable[[], object]) -> Callable[[], object]:
            if late:
                function()
            raise RuntimeError("out of memory")

    case = Case(Failing())
    rows = rows_of(random.Random(1), 2, [random_automaton(0, 8)])
    runs = runs_of(random.Random(1), 2)
    expected = Case().draw(runs, rows, recorded=False)
    for _ in range(2):
        assert case.draw(runs, rows, recorded=True) == expected
    assert caplog.text.count("Steps in a row can't be recorded (out of memory)") == 1
    assert case.recorded.replayed == 0
