from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from maskwright.server.access import Allowance, ApiKey, Bucket, digest_of, duration


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def allowance(clock: Clock, **limits: int) -> Allowance:
    return Allowance(ApiKey("alice", digest_of("a"), **limits), clock)


def test_a_bucket_is_refilled_evenly_and_not_beyond_its_capacity() -> None:
    bucket = Bucket(60, 60.0, 0.0)
    bucket.take(60, 0.0)
    assert bucket.level(0.0) == 0
    assert bucket.level(10.0) == pytest.approx(10)
    assert bucket.seconds_to(30, 10.0) == pytest.approx(20)
    assert bucket.level(1e6) == 60


def test_no_more_requests_pass_than_the_rate_allows() -> None:
    """Over any time, of random requests: at most the capacity and what was refilled."""
    draw, clock = random.Random(1), Clock()
    one = allowance(clock, requests_per_minute=30)
    passed: list[float] = []
    for _ in range(5000):
        clock.now += draw.expovariate(2.0)  # four times as many as may pass
        if one.enter() is None:
            passed.append(clock.now)
    assert len(passed) == pytest.approx(clock.now * 30 / 60 + 30, abs=2)
    for first, at in enumerate(passed):
        within = sum(1 for other in passed[first:] if other < at + 60)
        assert within <= 60


def test_a_request_is_let_in_exactly_when_it_was_told_to_come_back() -> None:
    clock = Clock()
    one = allowance(clock, requests_per_minute=4)
    assert [one.enter() for _ in range(4)] == [None] * 4
    excess = one.enter()
    assert excess is not None
    assert (excess.name, excess.limit) == ("requests_per_minute", 4)
    assert excess.seconds == pytest.approx(15)
    clock.now += excess.seconds - 0.01
    assert one.enter() is not None
    clock.now += 0.011
    assert one.enter() is None


def test_tokens_that_were_used_are_paid_by_waiting() -> None:
    clock = Clock()
    one = allowance(clock, tokens_per_minute=60)
    assert one.enter() is None
    one.charge(90)  # one answer may go beyond the limit
    excess = one.enter()
    assert excess is not None
    assert excess.seconds == pytest.approx(31)
    clock.now += 31
    assert one.enter() is None


def test_the_limit_that_lasts_longest_is_reported() -> None:
    clock = Clock()
    one = allowance(clock, requests_per_minute=1, tokens_per_minute=100, tokens_per_day=1000)
    assert one.enter() is None
    one.charge(1000)
    excess = one.enter()
    assert excess is not None
    assert excess.name == "tokens_per_minute"  # 900 too many take nine minutes
    clock.now += 540
    one.charge(95)
    one.charge(900)
    assert (excess := one.enter()) is not None
    assert excess.name == "tokens_per_day"


def test_a_refused_request_takes_nothing() -> None:
    clock = Clock()
    one = allowance(clock, requests_per_minute=60, tokens_per_minute=60)
    one.charge(61)
    for _ in range(100):
        assert one.enter() is not None
    assert one.headers()["x-ratelimit-remaining-requests"] == "60"


def test_headers_are_those_of_openai() -> None:
    clock = Clock()
    one = allowance(clock, requests_per_minute=60, tokens_per_minute=600, tokens_per_day=86_400)
    one.enter()
    one.charge(100)
    assert one.headers() == {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "600",
        "x-ratelimit-remaining-tokens": "500",
        "x-ratelimit-reset-tokens": "10s",
    }
    assert allowance(clock).headers() == {}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0ms"), (0.02, "20ms"), (1.5, "1.5s"), (59.9, "59.9s"), (360, "6m0s"), (3601, "1h0m1s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_prompts_exceed_what_is_left_and_are_counted_by_nothing() -> None:
    clock = Clock()
    one = allowance(clock, requests_per_minute=9, tokens_per_minute=60, tokens_per_day=1000)
    assert one.exceeded_by(60) is None
    one.charge(20)
    assert one.exceeded_by(40) is None
    excess = one.exceeded_by(41)
    assert excess is not None
    assert (excess.name, excess.limit, excess.what) == (
        "tokens_per_minute",
        60,
        "60 tokens per minute",
    )
    assert excess.seconds == pytest.approx(1)
    clock.now += excess.seconds + 1e-6
    assert one.exceeded_by(41) is None


@pytest.mark.parametrize(
    ("tokens", "name"),
    [(61, "tokens_per_minute"), (1001, "tokens_per_minute"), (60, None)],
)
def test_of_limits_that_prompts_always_exceed_the_smallest_is_reported(
    tokens: int, name: str | None
) -> None:
    excess = allowance(Clock(), tokens_per_minute=60, tokens_per_day=1000).exceeded_by(tokens)
    assert (None if excess is None else excess.name) == name
