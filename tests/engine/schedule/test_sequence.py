"""How far a sequence is computed, whether it decodes, and who gives way to whom."""

from __future__ import annotations

import pytest

from maskwright.engine.schedule.sequence import MOST_PREEMPTIONS, SHORT, Phase, Sequence


def sequence(tokens: int, prompt: int, computed: int = 0) -> Sequence:
    return Sequence(1, [0] * tokens, prompt, 999, computed=computed)


PROGRESS: list[tuple[int, int, int, int, bool]] = [
    # tokens, of the prompt, computed; then pending, and whether it decodes
    (9, 9, 0, 9, False),
    (9, 9, 8, 1, False),  # the prompt's last token
    (9, 9, 9, 0, False),  # computed, and nothing sampled yet
    (10, 9, 9, 1, True),
    (10, 9, 8, 2, False),  # computed again after a preemption
    (9 + SHORT, 9, 9, SHORT, True),  # what a grammar forced
    (10 + SHORT, 9, 9, SHORT + 1, False),  # as much as a prompt
    (10 + SHORT, 9, 10, SHORT, True),
    (1, 1, 0, 1, False),
]


@pytest.mark.parametrize(("tokens", "prompt", "computed", "pending", "decodes"), PROGRESS)
def test_progress(tokens: int, prompt: int, computed: int, pending: int, decodes: bool) -> None:
    found = sequence(tokens, prompt, computed)
    assert (found.pending, found.decodes) == (pending, decodes)


def test_a_new_sequence_waits_and_holds_nothing() -> None:
    new = sequence(3, 3)
    assert new.phase is Phase.WAITING
    assert (new.computed, new.table, new.host, new.draft, new.node) == (0, [], [], [], None)
    new.table.append(1)
    assert sequence(3, 3).table == [], "each sequence has a table of its own"


def ranked(arrival: int, rank: int, preemptions: int = 0) -> Sequence:
    return Sequence(arrival, [0], 1, 9, rank=rank, preemptions=preemptions)


OLDEST_FIRST: list[tuple[Sequence, Sequence]] = [
    # one that may take blocks from another
    (ranked(1, 0), ranked(2, 0)),
    (ranked(2, 0), ranked(1, 1)),  # the better class, although it came later
    (ranked(1, 1), ranked(2, 1)),
    (ranked(1, 1), ranked(2, 2)),
    (ranked(1, 1, MOST_PREEMPTIONS), ranked(2, 0)),  # preempted often enough
    (ranked(2, 0), ranked(1, 1, MOST_PREEMPTIONS - 1)),
    (ranked(1, 2, MOST_PREEMPTIONS + 1), ranked(2, 1, MOST_PREEMPTIONS)),
]


@pytest.mark.parametrize(("senior", "junior"), OLDEST_FIRST)
def test_who_gives_way(senior: Sequence, junior: Sequence) -> None:
    assert senior.seniority < junior.seniority


def test_sequences_are_compared_by_identity() -> None:
    one = sequence(2, 2)
    assert one != sequence(2, 2)
    assert {one: 1}[one] == 1
