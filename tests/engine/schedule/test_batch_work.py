"""What the scheduler does for all sequences of a step at once, against the same one by one."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.batch_work import RECOVERY, chunks_of, decode, has_more
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Phase, Sequence
from maskwright.engine.schedule.step_time import FIXED_ROWS

BLOCK = 4
FIELDS = ("computed", "acceptance", "phase", "table", "draft")


@dataclass
class Step:
    budget: int
    promised: int = 0
    scorable: int = 50
    counts: dict[Sequence, int] = field(default_factory=dict)
    drafts: dict[Sequence, int] = field(default_factory=dict)


class Rooms:
    """Blocks for sequences: one in four lacks them, and one in nine takes the last sequence's
    place."""

    def __init__(self, running: list[Sequence], pool: BlockPool, seed: int) -> None:
        self.asked: list[tuple[int, int]] = []
        self._running, self._pool, self._draw = running, pool, random.Random(seed)

    def __call__(self, sequence: Sequence, count: int, step: Step) -> bool:
        self.asked.append((sequence.arrival, count))
        missing = -(-(sequence.computed + count) // BLOCK) - len(sequence.table)
        if self._draw.random() < 0.25 or missing > self._pool.free:
            step.promised += missing
            return False
        if self._draw.random() < 0.12 and self._running[-1] not in step.counts:
            self._running[-1].phase = Phase.WAITING
        sequence.table += self._pool.allocate(missing)
        return True


def random_sequences(draw: random.Random, pool: BlockPool) -> list[Sequence]:
    made: list[Sequence] = []
    for number in range(draw.randint(1, 9)):
        length, prompt = draw.randint(1, 30), draw.randint(1, 20)
        tokens = [draw.randrange(9) for _ in range(length)]
        sequence = Sequence(number, tokens, prompt, 40, acceptance=draw.random())
        sequence.phase = Phase.RUNNING
        sequence.computed = max(0, length - draw.choice([0, 1, 1, 1, 2, 5, 30]))
        sequence.draft = [1] * draw.choice([0, 0, 1, 4])
        sequence.by_model = draw.random() < 0.2
        sequence.to_score = draw.choice([0, 0, 12])
        sequence.scored = draw.randint(0, sequence.to_score)
        blocks = draw.choice([0, 1]) + -(-sequence.computed // BLOCK)
        sequence.table = pool.allocate(min(blocks, pool.free))
        made.append(sequence)
    return made


def decode_one_by_one(running: list[Sequence], step: Step, pool: BlockPool, room: Any) -> None:
    """Each rule as it is said."""

    def has_room(sequence: Sequence, count: int) -> bool:
        return missing(sequence, count) <= 0 or room(sequence, count, step)

    def missing(sequence: Sequence, count: int) -> int:
        return pool.needed(sequence.computed + count) - len(sequence.table)

    short = [sequence for sequence in running if sequence.decodes]
    for number, sequence in enumerate(short):
        others = len(short) - 1 - number
        if sequence.phase is Phase.RUNNING and step.budget:
            count = min(sequence.pending, max(1, step.budget - others))
            if has_room(sequence, count):
                step.counts[sequence] = count
                step.budget -= count
                step.scorable -= count if sequence.scored < sequence.to_score else 0
    for sequence in short:
        drafts = min(len(sequence.draft), step.budget)
        unsure = sequence.acceptance * (1 + FIXED_ROWS / len(short)) < 1
        if drafts and unsure and not sequence.by_model:
            sequence.acceptance += RECOVERY
        elif drafts and step.counts.get(sequence) == sequence.pending:
            end = sequence.pending + drafts
            if missing(sequence, end) + step.promised <= pool.free and has_room(sequence, end):
                step.drafts[sequence] = drafts
                step.budget -= drafts


def chunk_of(sequence: Sequence, count: int, drafted: int) -> Chunk:
    end, scored = sequence.computed + count, 0
    if sequence.scored < sequence.to_score:
        scored = max(0, end - max(sequence.computed, sequence.scored))
    samples = count == sequence.pending
    return Chunk(sequence, sequence.computed, count + drafted, samples, drafted, scored)


@pytest.mark.parametrize("seed", range(400))
def test_all_at_once_is_one_by_one(seed: int) -> None:
    found: list[Any] = []
    for way in (decode_one_by_one, lambda *given: decode(*given[:2], BLOCK, *given[2:])):
        draw = random.Random(seed)
        pool = BlockPool(draw.choice([12, 60]), BLOCK)
        running = random_sequences(draw, pool)
        step = Step(draw.choice([1, len(running), 40]))
        rooms = Rooms(running, pool, seed)
        way(running, step, pool, rooms)
        counts = {sequence.arrival: count for sequence, count in step.counts.items()}
        drafts = {sequence.arrival: count for sequence, count in step.drafts.items()}
        state = [[getattr(sequence, name) for name in FIELDS] for sequence in running]
        sums = step.budget, step.promised, step.scorable, rooms.asked
        found.append((counts, [*counts], drafts, state, sums))
    assert found[0] == found[1]
    more = any(sequence.pending > step.counts.get(sequence, 0) for sequence in running)
    assert has_more(running, step.counts) == more
    assert chunks_of(step.counts, step.drafts) == tuple(
        chunk_of(sequence, count, step.drafts.get(sequence, 0))
        for sequence, count in step.counts.items()
    )


def test_what_is_compared_happens() -> None:
    """Drafts, drafts that are not tried, and tokens for which there is no room."""
    seen = dict.fromkeys(("draft", "recovery", "no room", "part"), 0)
    for seed in range(400):
        draw = random.Random(seed)
        pool = BlockPool(draw.choice([12, 60]), BLOCK)
        running = random_sequences(draw, pool)
        before = [sequence.acceptance for sequence in running]
        step = Step(draw.choice([1, len(running), 40]))
        decode(running, step, BLOCK, pool, Rooms(running, pool, seed))
        seen["draft"] += bool(step.drafts)
        seen["recovery"] += before != [sequence.acceptance for sequence in running]
        seen["no room"] += step.promised > 0
        seen["part"] += any(sequence.pending > count for sequence, count in step.counts.items())
    assert min(seen.values()) > 20, seen
