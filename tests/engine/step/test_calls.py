"""Work of other threads, between the steps of an engine."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from maskwright.engine import Engine, EngineConfig, Request
from maskwright.engine.step.calls import LONGEST_PAUSE, SHARE, Calls
from maskwright.errors import EngineStoppedError
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams


def fail() -> None:
    raise ValueError("of the work")


def test_one_is_called_at_a_time_and_in_order() -> None:
    calls, done = Calls(), []
    futures = [calls.put(lambda number=number: done.append(number)) for number in range(3)]
    for number in range(3):
        assert len(calls) == 3 - number
        calls.run_one()
        assert done == list(range(number + 1))
        assert [future.done() for future in futures] == [i <= number for i in range(3)]
    calls.run_one()
    assert len(calls) == 0


def test_while_requests_run_calls_take_a_small_share_of_the_time() -> None:
    now = 0.0

    def work() -> None:
        nonlocal now
        now += 0.001

    calls = Calls(clock=lambda: now, processor=lambda: now)
    futures = [calls.put(work) for _ in range(1000)]
    while now < 1.0:
        calls.run_one(busy=True)
        now += 0.005  # a step
    done = sum(future.done() for future in futures)
    assert 0.8 * SHARE < 0.001 * done < SHARE
    left = len(calls)
    calls.run_one(busy=False)
    assert len(calls) == left - 1, "nobody waits for it, and it waits"


def test_a_long_call_does_not_keep_others_waiting_for_long() -> None:
    now = 0.0

    def work() -> None:
        nonlocal now
        now += 60.0

    calls = Calls(clock=lambda: now, processor=lambda: now)
    futures = [calls.put(work) for _ in range(2)]
    calls.run_one(busy=True)
    now += LONGEST_PAUSE
    calls.run_one(busy=True)
    assert all(future.done() for future in futures)


def test_an_exception_is_the_caller_s() -> None:
    calls = Calls()
    future = calls.put(fail)
    calls.run_one()
    with pytest.raises(ValueError, match="of the work"):
        future.result(0)


def test_what_was_cancelled_is_not_called() -> None:
    calls, done = Calls(), []
    calls.put(lambda: done.append(1)).cancel()
    calls.run_one()
    assert done == []


def test_those_that_are_left_are_refused() -> None:
    calls = Calls()
    futures: list[Future[None]] = [calls.put(fail) for _ in range(2)]
    calls.refuse_all(EngineStoppedError("over"))
    for future in futures:
        with pytest.raises(EngineStoppedError, match="over"):
            future.result(0)


def test_an_engine_calls_between_its_steps(loaded: LoadedModel) -> None:
    """In its own thread, whether it is idle or busy; an error harms nobody else, and an engine that
    has ended refuses."""
    engine = Engine(loaded, EngineConfig(blocks=64, block_size=4))
    with pytest.raises(EngineStoppedError, match="not running"):
        engine.call(fail)
    with engine:
        assert engine.call(lambda: threading.current_thread().name).result() == "maskwright-engine"
        params = SamplingParams(seed=1)
        generation = engine.submit(Request([1, 2, 3], params, 40, eos=()))
        with pytest.raises(ValueError, match="of the work"):
            engine.call(fail).result()
        assert engine.call(lambda: engine.alive).result() is True
        assert generation.result().completion_tokens == 40
    with pytest.raises(EngineStoppedError, match="stopped"):
        engine.call(fail)
