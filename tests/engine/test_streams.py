"""Readers that are slow, requests that run out of time, grammars that come late."""

import asyncio
import time
from concurrent.futures import Future
from dataclasses import replace

import pytest

from maskwright.engine import Engine, EngineConfig, FinishReason
from maskwright.errors import BudgetError, GenerationError, InputError, LimitError
from maskwright.models import LoadedModel
from tests.bounds import wait_until
from tests.engine.step.held import held_steps
from tests.engine.step.test_loop import request
from tests.engine.tiny import LiteralGrammar, SlowGrammar

CONFIG = EngineConfig(
    blocks=64, max_running=4, max_batch_tokens=32, reader_tokens=8, reader_seconds=1e6
)


def test_a_slow_reader_pauses_its_own_request_alone(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        expected = engine.submit(request(loaded, max_tokens=60)).result()
        slow = engine.submit(request(loaded, max_tokens=60))
        reader = iter(slow)
        deltas = [next(reader)]
        wait_until(lambda: engine.stats().paused == 1)
        others = [engine.submit(request(loaded, n, 60)) for n in range(6)]
        assert all(len(other.result().token_ids) == 60 for other in others)
        assert engine.stats().paused == 1
        sizes = []
        for delta in reader:
            deltas.append(delta)
            sizes.append(len(delta.token_ids))
            time.sleep(0.005)
        assert engine.stats().blocks_used == 0
    assert "".join(d.text for d in deltas) == expected.text
    assert sum((d.token_ids for d in deltas), ()) == expected.token_ids
    assert max(sizes) <= 8 + CONFIG.drafts + 1, "more was kept than the buffer holds"


def test_a_reader_that_takes_nothing_is_cut_off(loaded: LoadedModel) -> None:
    with Engine(loaded, replace(CONFIG, reader_seconds=0.1)) as engine:
        stuck = engine.submit(request(loaded, max_tokens=200))
        reader = iter(stuck)
        next(reader)
        wait_until(lambda: engine.stats().finished == {"timeout": 1})
        assert engine.stats().blocks_used == 0
        last = list(reader)[-1]
        assert last.finish_reason is FinishReason.TIMEOUT


def test_who_asks_for_the_result_is_no_slow_reader(loaded: LoadedModel) -> None:
    with Engine(loaded, replace(CONFIG, reader_seconds=0.05)) as engine:
        generations = [engine.submit(request(loaded, n, 100)) for n in range(6)]
        wait_until(lambda: engine.stats().finished.get("length") == 6)
        assert [len(g.result().token_ids) for g in generations] == [100] * 6


def test_paused_requests_make_room(loaded: LoadedModel) -> None:
    """Their blocks are taken when others need them, and they go on with the same tokens."""
    config = replace(CONFIG, blocks=12)
    with Engine(loaded, config) as engine:
        expected = engine.submit(request(loaded, max_tokens=100)).result()
        readers = []
        for _ in range(4):
            readers.append(iter(engine.submit(request(loaded, max_tokens=100))))
            next(readers[-1])
        wait_until(lambda: engine.stats().paused == 4)
        whole = engine.submit(request(loaded, 3, max_tokens=180)).result()
        assert len(whole.token_ids) == 180
        texts = ["".join(d.text for d in reader) for reader in readers]
    assert all(expected.text.endswith(text) for text in texts)


def test_a_timeout_ends_with_what_there_is(loaded: LoadedModel) -> None:
    """Each step takes a part of the time that it has, on any processor."""
    with Engine(loaded, CONFIG) as engine:
        engine.submit(request(loaded)).result()  # now nothing is left to be compiled
        forward = engine._runner.forward

        def slow(plan):
            time.sleep(0.05)
            return forward(plan)

        engine._runner.forward = slow
        got = engine.submit(request(loaded, max_tokens=240, timeout=0.2)).result()
        assert got.finish_reason is FinishReason.TIMEOUT
        assert len(got.token_ids) < 240
        assert engine.stats().blocks_used == 0


def test_a_request_in_the_queue_times_out_too(loaded: LoadedModel) -> None:
    with Engine(loaded, replace(CONFIG, max_running=1)) as engine:
        first = engine.submit(request(loaded, max_tokens=240))
        second = engine.submit(request(loaded, max_tokens=240, timeout=0.001))
        assert second.result().finish_reason is FinishReason.TIMEOUT
        assert first.result().finish_reason is FinishReason.LENGTH


# Grammars that come late --------------------------------------------------------------------------


def test_a_grammar_still_compiling_delays_nobody(loaded: LoadedModel) -> None:
    future: Future = Future()
    with Engine(loaded, replace(CONFIG, max_running=1)) as engine:
        late = engine.submit(request(loaded, max_tokens=9, grammar=future, eos=None))
        for n in range(3):
            assert engine.submit(request(loaded, n)).result().completion_tokens == 20
        stats = engine.stats()
        assert (stats.compiling, stats.running, stats.blocks_used) == (1, 0, 0)
        future.set_result(LiteralGrammar(loaded.vocab, b"the cat"))
        assert late.result().text == "the cat"
        assert engine.stats().compiling == 0


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (LimitError("too large", limit="contexts"), LimitError),
        (ZeroDivisionError("boom"), GenerationError),
        ("xyxyxyxyxyxy", BudgetError),
    ],
)
def test_a_grammar_that_fails_ends_its_request(loaded: LoadedModel, outcome, error) -> None:
    future: Future = Future()
    with Engine(loaded, CONFIG) as engine:
        late = engine.submit(request(loaded, max_tokens=3, grammar=future, eos=None))
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(LiteralGrammar(loaded.vocab, outcome.encode()))
        with pytest.raises(error):
            late.result()
        assert engine.alive


@pytest.mark.parametrize("way", ["cancel", "timeout", "stop", "cancelled compile"])
def test_a_request_ends_while_its_grammar_compiles(loaded: LoadedModel, way: str) -> None:
    future: Future = Future()
    engine = Engine(loaded, CONFIG)
    engine.start()
    engine.submit(request(loaded)).result()  # the thread waits, and knows of no deadline
    time.sleep(0.05)
    timeout = 0.05 if way == "timeout" else None
    late = engine.submit(request(loaded, grammar=future, eos=None, timeout=timeout))
    if way == "cancel":
        late.cancel()
    elif way == "stop":
        engine.stop()
    elif way == "cancelled compile":
        future.cancel()
        future.set_running_or_notify_cancel()
    if way in {"stop", "cancelled compile"}:
        with pytest.raises(GenerationError):
            late.result()
    else:
        reason = FinishReason.CANCELLED if way == "cancel" else FinishReason.TIMEOUT
        assert late.result().finish_reason is reason
        future.set_result(LiteralGrammar(loaded.vocab, b"the cat"))
        assert engine.submit(request(loaded)).result().completion_tokens == 20
        engine.stop()
    assert len(engine._compiling) == 0


# Overlap ------------------------------------------------------------------------------------------


def test_a_mask_that_is_late_holds_its_own_request(loaded: LoadedModel) -> None:
    """One request waits for its mask; the other one, whose mask is there, goes on to its end, and
    so does the first, with the tokens it would have had anyway."""
    config = replace(CONFIG, overlap=True, canonical=False, drafts=0)
    with Engine(loaded, config) as engine:
        plain = LiteralGrammar(loaded.vocab, b'{"the":"cat"}')
        asked = request(loaded, max_tokens=20, eos=None)
        expected = engine.submit(replace(asked, grammar=plain)).result()
        slow = SlowGrammar(loaded.vocab, b'{"the":"cat"}')
        with held_steps(engine):
            free = engine.submit(request(loaded, max_tokens=200))
            late = engine.submit(replace(asked, grammar=slow))
        wait_until(lambda: engine.stats().held_rows > 0)
        wait_until(lambda: engine.stats().sampled_tokens > len(expected.token_ids))
        slow.go.set()
        assert late.result() == expected
        assert len(free.result().token_ids) == 200


# Limits of service --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "param"), [({"service": "royal"}, "service"), ({"timeout": 0.0}, "timeout")]
)
def test_service_is_checked(loaded: LoadedModel, changes: dict, param: str) -> None:
    with Engine(loaded, CONFIG) as engine, pytest.raises(InputError) as caught:
        engine.submit(request(loaded, **changes))
    assert caught.value.param == param


def test_salts_share_nothing(loaded: LoadedModel) -> None:
    prompt = [65 + n % 20 for n in range(100)]
    with Engine(loaded, CONFIG) as engine:
        texts = set()
        for salt, hits in (("a", 0), ("a", 99), ("b", 99), ("b", 198)):
            asked = request(loaded, prompt=prompt, cache_salt=salt)
            texts.add(engine.submit(asked).result().text)
            assert engine.stats().prefix_hits == hits
    assert len(texts) == 1


def test_an_async_reader_may_be_slow_too(loaded: LoadedModel) -> None:
    async def main(engine: Engine) -> int:
        count = 0
        async for delta in engine.submit(request(loaded, max_tokens=60)):
            count += len(delta.token_ids)
            await asyncio.sleep(0.004)
        return count

    with Engine(loaded, CONFIG) as engine:
        assert asyncio.run(main(engine)) == 60
