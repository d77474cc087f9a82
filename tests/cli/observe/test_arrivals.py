"""Little's law on queues that are simulated, where it holds and where it can't."""

from __future__ import annotations

import random

import pytest

from maskwright.cli.observe.diagnose import TimedRequest, check_littles_law, timed_requests
from tests.cli.observe.synthetic import steady, trace


def queue(rate: float, service: float, count: int, seed: int = 1) -> list[TimedRequest]:
    """One server, arrivals at random, first come first served (M/M/1)."""
    rng = random.Random(seed)
    at = free = 0.0
    traces = []
    for number in range(count):
        at += rng.expovariate(rate)
        begin = max(at, free)
        free = begin + rng.expovariate(1 / service)
        traces.append(
            trace(number, at, queue_ms=1000 * (begin - at), decode_ms=1000 * (free - begin),
                  prefill_ms=0.0)
        )  # fmt: skip
    return timed_requests(traces)


@pytest.mark.parametrize("seed", range(5))
def test_the_law_holds_for_a_stable_queue(seed: int) -> None:
    law = check_littles_law(queue(6.0, 0.1, 3000, seed))
    assert law is not None
    assert law.verdict == "holds"
    assert law.counted == pytest.approx(law.product, rel=0.05)
    assert law.product == pytest.approx(6.0 * law.mean_seconds, rel=0.1)
    assert law.most > law.counted


@pytest.mark.parametrize("seed", range(5))
def test_a_queue_beyond_its_rate_grows(seed: int) -> None:
    law = check_littles_law(queue(15.0, 0.1, 800, seed))
    assert law is not None
    assert law.verdict == "grows"
    assert law.counted < law.product, "requests that arrived are still there at the end"


def test_the_two_sides_are_counted_independently() -> None:
    """Without every third trace both sides fall alike; with times in another unit only one does."""
    requests = timed_requests(steady(400, 5.0))
    whole = check_littles_law(requests)
    fewer = check_littles_law([one for number, one in enumerate(requests) if number % 3])
    assert whole is not None
    assert fewer is not None
    assert fewer.counted == pytest.approx(2 / 3 * whole.counted, rel=0.1)
    assert fewer.verdict == whole.verdict == "holds"


def test_a_window_that_is_too_short_says_nothing() -> None:
    law = check_littles_law(timed_requests(steady(60, 200.0)))
    assert law is not None
    assert law.verdict == "too short"
    assert check_littles_law(timed_requests([trace(1, 0.0)])) is None
    assert check_littles_law(timed_requests([trace(n, 0.0) for n in range(60)])) is None
