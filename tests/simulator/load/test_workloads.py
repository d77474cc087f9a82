"""Generated loads have the rates, lengths and prefixes that they are asked for."""

from __future__ import annotations

import random
from collections import Counter
from statistics import fmean

import pytest
from msgspec.structs import replace

from maskwright.errors import InputError
from maskwright_sim.load.demand import text
from maskwright_sim.load.workloads import Lengths, Workload, in_turn, mixed

LOAD = Workload(400, 10.0, Lengths(64), Lengths(20, "exponential"))


def test_a_seed_gives_one_load() -> None:
    assert LOAD.demands(3) == LOAD.demands(3)
    assert LOAD.demands(3) != LOAD.demands(4)


@pytest.mark.parametrize("pattern", ["steady", "poisson", "burst"])
def test_requests_arrive_at_the_rate(pattern: str) -> None:
    load = Workload(2000, 10.0, Lengths(4), Lengths(4), pattern=pattern)  # type: ignore[arg-type]
    last = load.demands()[-1].time
    assert 2000 / last == pytest.approx(10.0, rel=0.06)


@pytest.mark.parametrize("kind", ["fixed", "uniform", "exponential", "heavy"])
def test_lengths_have_the_mean(kind: str) -> None:
    rng = random.Random(0)
    lengths = Lengths(100, kind)  # type: ignore[arg-type]
    drawn = [lengths.draw(rng) for _ in range(20_000)]
    assert fmean(drawn) == pytest.approx(100, rel=0.05)
    assert min(drawn) >= 1
    if kind == "heavy":
        drawn.sort()
        assert drawn[-200] > 5 * drawn[10_000], "no heavy tail"


def test_prefixes_are_shared_by_frequency() -> None:
    load = Workload(1000, 1.0, Lengths(8), Lengths(2), prefixes=5, prefix_length=32, skew=1.0)
    counts = Counter(demand.prompt[:32] for demand in load.demands())
    assert len(counts) == 5
    (_, first), (_, second), *_ = counts.most_common()
    assert 1.5 < first / second < 2.6
    assert len({demand.prompt[32] for demand in load.demands()}) == 1000


def test_a_turn_continues_prompt_and_answer() -> None:
    first, second, third, *_ = Workload(2, 1.0, Lengths(5), Lengths(3), turns=3).demands()
    assert second.prompt[: len(first.prompt) + 3] == first.prompt + tuple(first.answer)
    assert third.prompt[: len(second.prompt)] == second.prompt
    assert (first.after, second.after, third.after) == (None, 0, 1)


def test_mixed_loads_keep_their_ranks_and_share_no_token() -> None:
    every = mixed([LOAD, Workload(100, 2.0, Lengths(9), Lengths(5))])
    assert Counter(demand.rank for demand in every) == {0: 400, 1: 100}
    assert [demand.number for demand in every] == list(range(500))
    assert len({demand.prompt[0] for demand in every}) == 500
    assert text(3, 2) != text(4, 2)


def test_impossible_loads_are_refused() -> None:
    with pytest.raises(InputError, match="rate above 0"):
        Workload(1, 0.0, Lengths(1), Lengths(1)).demands()


def test_loads_in_turn_follow_each_other() -> None:
    loads = [Workload(4, 2.0, Lengths(9), Lengths(3)), Workload(3, 5.0, Lengths(2), Lengths(7))]
    demands = in_turn(loads, 4)
    assert [demand.number for demand in demands] == list(range(7))
    assert [demand.output for demand in demands] == [3] * 4 + [7] * 3
    times = [demand.time for demand in demands]
    assert times == sorted(times)
    assert len({token for demand in demands for token in demand.prompt}) == 4 * 9 + 3 * 2
    with pytest.raises(InputError, match="only requests without shared texts"):
        in_turn([replace(loads[0], turns=2)])
