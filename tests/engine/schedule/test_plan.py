"""What a step's plan says of its work."""

from __future__ import annotations

import pytest

from maskwright.engine.schedule.plan import (
    BlockCopy,
    Chunk,
    CopyDirection,
    PlanBuilder,
    StepPlan,
)
from maskwright.engine.schedule.sequence import SHORT, Sequence


def sequence(tokens: int, prompt: int, computed: int) -> Sequence:
    return Sequence(1, [0] * tokens, prompt, 999, computed=computed)


CHUNKS: list[tuple[Chunk, bool, int]] = [
    # chunk; whether it decodes, and its rows of logits
    (Chunk(sequence(9, 9, 0), 0, 9, True), False, 1),
    (Chunk(sequence(9, 9, 0), 0, 8, False), False, 0),
    (Chunk(sequence(9, 9, 8), 8, 1, True), False, 1),  # the prompt's last token
    (Chunk(sequence(10, 9, 9), 9, 1, True), True, 1),
    (Chunk(sequence(10, 9, 9), 9, 4, True, drafted=3), True, 4),
    (Chunk(sequence(9 + SHORT, 9, 9), 9, SHORT, True), True, 1),  # what a grammar forced
    (Chunk(sequence(10 + SHORT, 9, 9), 9, SHORT + 1, True), False, 1),  # too much for a decode
    (Chunk(sequence(9 + SHORT, 9, 9), 9, SHORT + 2, True, drafted=2), True, 3),
]


@pytest.mark.parametrize(("chunk", "decodes", "rows"), CHUNKS)
def test_chunks(chunk: Chunk, decodes: bool, rows: int) -> None:
    assert (chunk.decodes, chunk.rows) == (decodes, rows)


def test_prompts_and_how_far_they_look_back() -> None:
    decode = Chunk(sequence(50, 9, 49), 49, 1, True)
    begin = Chunk(sequence(9, 9, 0), 0, 9, True)  # positions 0 … 8: 4 before each on average
    later = Chunk(sequence(200, 200, 100), 100, 3, False)  # 100, 101, 102
    assert StepPlan((decode,), (), (), (), ()).totals[2:] == (0, 0.0)
    assert StepPlan((decode, begin), (), (), (), ()).totals[2:] == (9, 4.0)
    plan = StepPlan((decode, begin, later), (), (), (), ())
    assert plan.totals.tokens == 13
    assert plan.totals[2:] == (12, pytest.approx((9 * 4 + 3 * 101) / 12))


def test_copies_between_the_pools() -> None:
    directions = (CopyDirection.WITHIN, CopyDirection.OUT, CopyDirection.IN, CopyDirection.OUT)
    copies = tuple(BlockCopy(direction, 1, 2) for direction in directions)
    assert StepPlan((), copies, (), (), ()).swapped == 3


def test_building_a_plan() -> None:
    first, second = sequence(10, 9, 9), sequence(30, 30, 4)
    builder = PlanBuilder(budget=20)
    builder.take(first, 1)
    builder.drafts[first] = 3
    builder.take(second, 10)
    builder.take(second, 2)
    builder.fresh += [4, 5]
    builder.admitted.append(second)
    assert builder.budget == 7
    plan = builder.plan()
    assert plan.chunks == (Chunk(first, 9, 4, True, 3), Chunk(second, 4, 12, False, 0))
    assert (plan.fresh, plan.admitted, plan.preempted) == ((4, 5), (second,), ())
