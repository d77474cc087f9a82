"""What a trace tells of a choice's way to the client, in numbers known beforehand."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.engine import FinishReason, Trace
from maskwright.engine.request.trace import Record
from maskwright.engine.stats import Observations
from maskwright.server.exchange import Exchange, Sent
from maskwright.server.observe.traces import RequestTrace


def ended(completion: int, *, compiling: float | None = None) -> Trace:
    """The engine's trace of an answer of so many tokens."""
    record, seen = Record(0.0, prompt=9, seed=1, compiling=compiling is not None), Observations()
    if compiling is not None:
        record.compiled(compiling, seen)
    record.admitted(2.0, seen)
    record.drew(completion, 3.0, seen)
    record.completion = completion
    return record.end(4, FinishReason.STOP, 5.0, seen)


def exchange(**changes: Any) -> Exchange:
    return Exchange("r", started=100.0, seconds=7.0, **changes)


SENT: list[tuple[Sent | None, int, tuple[float | None, float | None, float | None]]] = [
    # what went out, tokens of the answer; time to first text, from it to the last, a token between
    (None, 5, (None, None, None)),
    (Sent(103.0, 103.0, 5), 5, (3.0, 0.0, None)),  # all of it at once
    (Sent(103.0, 107.0, 1), 5, (3.0, 4.0, 1.0)),
    (Sent(103.0, 107.0, 3), 5, (3.0, 4.0, 2.0)),
    (Sent(103.0, 107.0, 5), 5, (3.0, 4.0, None)),  # the rest was held-back text without tokens
]


@pytest.mark.parametrize(("sent", "tokens", "expected"), SENT)
def test_times_of_the_client(
    sent: Sent | None, tokens: int, expected: tuple[float | None, float | None, float | None]
) -> None:
    asked = exchange(sent={} if sent is None else {1: sent, 0: Sent(1.0, 2.0, 3)})
    trace = RequestTrace(asked, 1, ended(tokens))
    assert (trace.client_ttft, trace.streaming, trace.client_tpot) == expected
    body = trace.body()
    names = ("client_ttft_ms", "stream_ms", "client_tpot_ms")
    assert tuple(body[name] for name in names) == tuple(
        None if seconds is None else 1000 * seconds for seconds in expected
    )


def test_the_exchange_is_reported_beside_the_engine() -> None:
    asked = exchange(
        route="/v1/x", model="m", stream=True, shape="json", grammar="shared", rendering=0.25
    )
    engine = ended(5)
    body = RequestTrace(asked, 2, engine).body()
    assert body["request_ms"] == 7000.0
    assert (body["request_id"], body["index"], body["choices"]) == ("r", 2, 0)
    names = ("route", "model", "stream", "shape", "grammar", "render_ms")
    assert [body[name] for name in names] == ["/v1/x", "m", True, "json", "shared", 250.0]
    for name in ("prompt_tokens", "queue_ms", "prefill_ms", "total_ms", "finish_reason"):
        assert body[name] == getattr(engine, name)


@pytest.mark.parametrize(
    ("waited", "compiling", "expected"),
    [(None, None, None), (1.5, None, 1500.0), (None, 0.5, 500.0), (1.5, 0.5, 500.0)],
)
def test_the_time_of_a_grammar_is_the_servers_where_it_waited(
    waited: float | None, compiling: float | None, expected: float | None
) -> None:
    asked = exchange(compiling=compiling)
    assert RequestTrace(asked, 0, ended(5, compiling=waited)).body()["compile_ms"] == expected


def test_the_first_text_counts_once() -> None:
    """And of each choice for itself."""
    asked = exchange()
    asked.note_sent(0, 2)
    first = asked.sent[0].first_at
    asked.note_sent(1, 4)
    asked.note_sent(0, 9)
    assert (asked.sent[0].first_at, asked.sent[0].first_tokens) == (first, 2)
    assert asked.sent[0].last_at >= asked.sent[1].first_at
    assert asked.sent[1].first_tokens == 4
