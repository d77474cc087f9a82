"""The last answers: how many are kept, and who may read their names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from maskwright.engine import Generation
from maskwright.engine.request.progress import MOST_STEPS
from maskwright.engine.request.request import FinishReason
from maskwright.engine.request.trace import Record
from maskwright.engine.stats import Observations
from maskwright.server.access import Allowance, ApiKey, digest_of
from maskwright.server.exchange import Exchange
from maskwright.server.observe.traces import MOST_ANSWERS, NAMES, RecentAnswers, RequestTrace


def answer(request_id: str, key: str | None = None, steps: int = 3) -> RequestTrace:
    """An answer of two tokens a step, a step each second from the third second on."""
    record, seen = Record(1.0, prompt=9, seed=1), Observations()
    record.admitted(2.0, seen)
    for step in range(steps):
        record.forced += 1
        record.drew(1, 3.0 + step, seen)
    engine = record.end(1, FinishReason.STOP, 3.0 + steps, seen)
    allowance = None if key is None else Allowance(ApiKey(key, digest_of(key)))
    generation = cast(Generation, SimpleNamespace(record=record))
    return RequestTrace(
        Exchange(request_id, allowance=allowance, generations=[generation]), 0, engine
    )


def numbers(found: list[Any]) -> list[int]:
    return [one["number"] for one in found]


def test_the_last_answers_are_kept_and_numbered() -> None:
    recent = RecentAnswers()
    for count in range(MOST_ANSWERS + 5):
        recent(answer(f"r{count}"))
    assert numbers(recent.after(0, None)) == list(range(6, MOST_ANSWERS + 6))
    assert numbers(recent.after(MOST_ANSWERS + 3, None)) == [MOST_ANSWERS + 4, MOST_ANSWERS + 5]
    assert recent.after(MOST_ANSWERS + 5, None) == []


def test_steps_are_reported_with_their_times_and_tokens() -> None:
    recent = RecentAnswers()
    recent(answer("r"))
    (found,) = recent.after(0, None)
    assert (found["step_ms"], found["step_tokens"]) == ([2000.0, 3000.0, 4000.0], [2, 4, 6])
    recent(answer("long", steps=MOST_STEPS + 9))
    (found,) = recent.after(1, None)
    assert len(cast(list[float], found["step_ms"])) == MOST_STEPS
    assert found["steps"] == MOST_STEPS + 9


def test_only_the_own_key_reads_names() -> None:
    recent = RecentAnswers()
    recent(answer("of alice", "alice"))
    recent(answer("of bob", "bob"))
    alice, bob = recent.after(0, "alice")
    assert (alice["request_id"], alice["key"]) == ("of alice", "alice")
    assert not NAMES & bob.keys()
    assert bob["prompt_tokens"] == 9
    assert "bob" not in str(bob)
