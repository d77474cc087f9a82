"""The client's end of a request, without an engine: joined deltas, pauses, and one reader."""

from __future__ import annotations

import asyncio
import threading

import pytest

from maskwright.engine import Delta, FinishReason, Generation
from maskwright.engine.request.trace import Record, Trace
from maskwright.engine.stats import Observations
from maskwright.errors import GenerationError

LAST = Delta("!", (9,), FinishReason.STOP)


def ended() -> Trace:
    return Record(0.0, prompt=1, seed=0).end(1, FinishReason.STOP, 1.0, Observations())


def generation(buffer: int = 1 << 30) -> tuple[Generation, list[int]]:
    """A generation, and the list of its calls to go on."""
    resumed: list[int] = []
    return Generation(5, 0, 3, lambda _: None, buffer=buffer, resume=resumed.append), resumed


def test_what_was_not_taken_is_joined() -> None:
    made, _ = generation()
    reader = iter(made)
    made.publish(Delta("a", (1,)))
    made.publish(Delta("", (2,)))
    made.publish(Delta("b", (3,)))
    assert next(reader) == Delta("ab", (1, 2, 3))
    made.publish(Delta("c", (4,)))
    made.publish(LAST)
    assert list(reader) == [Delta("c!", (4, 9), FinishReason.STOP)]


def test_the_whole_of_it() -> None:
    made, _ = generation()
    for text in "abc":
        made.publish(Delta(text, (ord(text),)))
    made.publish(LAST)
    whole = made.result()
    assert (whole.text, whole.token_ids, whole.finish_reason) == (
        "abc!",
        (97, 98, 99, 9),
        FinishReason.STOP,
    )
    assert (whole.prompt_tokens, whole.completion_tokens) == (3, 4)


def test_an_error_is_raised_at_the_end() -> None:
    made, _ = generation()
    made.publish(Delta("a", (1,)))
    made.publish(Delta("", (), FinishReason.ERROR, GenerationError("why")))
    with pytest.raises(GenerationError, match="why"):
        made.result()


def test_a_reader_that_falls_behind_is_waited_for() -> None:
    """Only a reader of deltas, and only from its buffer on; it is resumed once."""
    made, resumed = generation(buffer=3)
    made.publish(Delta("abcd", (1, 2, 3, 4)))
    assert not made.throttle(), "nobody reads deltas"
    reader = iter(made)
    assert made.throttle()
    next(reader)
    assert resumed == [5]
    made.publish(Delta("e", (5, 6)))
    assert not made.throttle(), "below its buffer"
    made.publish(Delta("f", (7,)))
    assert made.throttle()
    next(reader)
    made.publish(Delta("g", (8,)))
    assert not made.throttle()
    next(reader)
    assert resumed == [5, 5]


def test_cancelling_names_the_request() -> None:
    cancelled: list[int] = []
    Generation(5, 0, 3, cancelled.append).cancel()
    assert cancelled == [5]


def test_listeners_hear_of_the_end_once() -> None:
    made, _ = generation()
    heard: list[Trace] = []
    made.when_ended(heard.append)
    made.publish(Delta("a", (1,)))
    assert heard == []
    trace = ended()
    made.end(LAST, trace)
    made.when_ended(heard.append)
    assert heard == [trace, trace]
    assert made.trace is trace
    assert made.result().text == "a!"


def test_a_reader_in_another_thread_is_woken() -> None:
    made, _ = generation()
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.extend(delta.text for delta in made))
    reader.start()
    made.publish(Delta("a", (1,)))
    made.publish(LAST)
    reader.join(60)
    assert not reader.is_alive()
    assert "".join(found) == "a!"


@pytest.mark.parametrize("whole", [False, True])
def test_a_reader_in_an_event_loop_is_woken(whole: bool) -> None:
    made, _ = generation()

    def engine() -> None:
        for text in "abc":
            made.publish(Delta(text, (1,)))
        made.publish(LAST)

    async def read() -> str:
        thread = threading.Thread(target=engine)
        asyncio.get_running_loop().call_later(0.01, thread.start)
        async with asyncio.timeout(60):
            if whole:
                text = (await made.aresult()).text
            else:
                text = "".join([delta.text async for delta in made])
        thread.join(60)
        return text

    assert asyncio.run(read()) == "abc!"


def test_an_event_loop_reads_along() -> None:
    """Each delta before the next one is there."""
    made, _ = generation()

    async def read() -> list[str]:
        reader = aiter(made)
        found: list[str] = []
        for text in "abc":
            coming = asyncio.ensure_future(anext(reader))
            await asyncio.sleep(0)
            made.publish(Delta(text, (1,)))
            async with asyncio.timeout(60):
                found.append((await coming).text)
        return found

    assert asyncio.run(read()) == ["a", "b", "c"]


def test_a_reader_hears_of_more_without_asking_in_vain() -> None:
    """Once for each delta that it has taken, and not of what it takes itself."""

    async def run() -> list[str]:
        made, _ = generation()
        calls: list[str] = []
        waiter = made.waiter(lambda: calls.append("more"))
        made.publish(Delta("a", (1,)))
        assert made.take(waiter) == Delta("a", (1,))
        await asyncio.sleep(0)
        assert calls == []
        made.publish(Delta("b", (2,)))
        made.publish(Delta("c", (3,)))
        await asyncio.sleep(0)
        assert calls == ["more"]
        assert made.take(waiter) == Delta("bc", (2, 3))
        made.publish(LAST)
        assert made.take(waiter) == LAST
        await asyncio.sleep(0)
        return calls

    assert asyncio.run(run()) == ["more", "more"]


def test_a_reader_hears_of_what_is_left_to_take() -> None:
    """Deltas that are not joined are taken one by one, and nothing need be published after them."""

    async def run() -> list[str]:
        made, _ = generation()
        calls: list[str] = []
        waiter = made.waiter(lambda: calls.append("more"))
        made.publish_apart(Delta("a", (1,)))
        made.publish_apart(Delta("b", (2,)))
        made.publish(Delta("c", (3,)))
        taken = ""
        while len(calls) == len(taken):
            delta = made.take(waiter)
            assert delta is not None
            taken += delta.text
        assert taken == "abc"
        return calls

    assert asyncio.run(run()) == ["more", "more"]


def test_what_is_known_from_the_beginning() -> None:
    record = Record(4.0, prompt=3, seed=8)
    made = Generation(5, 8, 3, lambda _: None, deadline=7.5, record=record)
    assert (made.id, made.seed, made.prompt_tokens, made.deadline) == (5, 8, 3, 7.5)
    assert made.record is record
    plain, _ = generation()
    assert (plain.deadline, plain.trace, plain.record.prompt) == (None, None, 3)


def test_a_loop_that_is_gone_harms_nobody() -> None:
    """Its reader had waited for the next delta when it was closed."""
    made, _ = generation()

    async def leave() -> None:
        task = asyncio.ensure_future(anext(aiter(made)))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    made.publish(LAST)
    assert made.result().text == "!"
