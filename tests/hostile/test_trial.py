"""What a client got is named rightly, and what is wrong with it is found."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.bounds import PATIENCE
from tests.hostile.scripted import Piece, scripted
from tests.hostile.shape import ALWAYS, LIMIT, READY, Subject
from tests.hostile.trial import LOST, SILENT, Reply, Trial, ask, names_a_limit
from tests.hostile.watch import Gap

SHAPE = Subject("made up").schema("integer", {"type": "integer"})
STEPS = "the grammar takes more than 900,000 steps (limit 'work')"


def event(**fields: Any) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


def chunk(finish: str | None = None, **delta: Any) -> bytes:
    return event(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


def error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def called(**function: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": function}]}


@pytest.mark.parametrize(
    ("status", "pieces", "stream", "expected"),
    [
        (200, [json.dumps({"choices": [{"message": {"content": "1"}}]}).encode()], False,
         Reply(READY, 200, message={"content": "1"})),
        (400, [json.dumps(error(LIMIT, STEPS)).encode()], False, Reply(LIMIT, 400, STEPS)),
        (500, [json.dumps(error("internal_error", "failed")).encode()], False,
         Reply("internal_error", 500, "failed")),
        (502, [b"<html>"], False, Reply("no JSON", 502, "<html>")),
        (200, [chunk(content="1"), chunk(content="2", finish="stop"), b"data: [DONE]\n\n"], True,
         Reply(READY, 200, message={"content": "12", "tool_calls": []})),
        (200, [chunk(**called(name="f")), chunk(**called(arguments='{"a"')),
               chunk("tool_calls", **called(arguments=": 1}"))], True,
         Reply(READY, 200, message={"content": "", "tool_calls": [
             {"function": {"name": "f", "arguments": '{"a": 1}'}}]})),
        (200, [chunk(content="1"), event(**error(LIMIT, STEPS))], True, Reply(LIMIT, 200, STEPS)),
        (200, [chunk(content="1")], True,
         Reply(LOST, 200, "the stream ended without a finish reason")),
    ],
)  # fmt: skip
def test_ask(status: int, pieces: list[Piece], stream: bool, expected: Reply) -> None:
    with scripted(status, pieces) as url:
        assert ask(url, b"{}", stream, PATIENCE) == expected


@pytest.mark.parametrize(
    ("pieces", "stream", "expected"),
    [
        ([b": ping\n\n", 0.01] * 2000, True,
         Reply(SILENT, 200, "the stream did not end in time")),
        ([20.0], False, Reply(SILENT, said="nothing within 1 s")),
    ],
)  # fmt: skip
def test_ask_gives_up(pieces: list[Piece], stream: bool, expected: Reply) -> None:
    with scripted(200, pieces) as url:
        assert ask(url, b"{}", stream, patience=1) == expected


def test_a_server_that_is_gone_is_reported() -> None:
    with scripted(200, []) as url:
        pass
    assert ask(url, b"{}", False, patience=5).outcome == LOST


def trial(reply: Reply, verdict: str = "valid") -> Trial:
    return Trial(SHAPE, reply, verdict, 0.1, [Gap(0, 0.01), Gap(1, 0.03, 0.0075)], [0.002], 10**6)


def test_a_busy_machine_slows_down() -> None:
    found = trial(Reply(READY, 200), "valid")
    assert found.machine_ms == 2
    assert found.slowdown == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("reply", "verdict", "fault"),
    [
        (Reply(READY, 200), "valid", None),
        (Reply(READY, 200), "unchecked", None),
        (Reply(READY, 200), "invalid at $", "a wrong answer: invalid at $"),
        (Reply(LIMIT, 400, STEPS), "", None),
        (Reply(LIMIT, 400, "too much"), "", "the refusal doesn't name its limit"),
        (Reply("internal_error", 500, "failed"), "", r"internal_error (500) instead of limit"),
        (Reply(SILENT, 0, "nothing"), "", "no answer (0)"),
    ],
)
def test_fault(reply: Reply, verdict: str, fault: str | None) -> None:
    found = trial(reply, verdict).fault
    assert found is None if fault is None else fault in (found or "")


def test_a_limit_is_no_answer_where_an_answer_must_come() -> None:
    refused = trial(Reply(LIMIT, 400, STEPS))
    assert refused.fault is None
    sure = replace(refused, shape=replace(SHAPE, outcomes=ALWAYS))
    assert "instead of ready" in (sure.fault or "")


def test_gaps_are_in_milliseconds() -> None:
    found = trial(Reply(READY))
    assert (found.longest_ms, found.unserved_ms, found.megabytes) == (30, 22.5, 1)


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (STEPS, True),
        ("too slow (at /a) (limit 'shape_seconds')", True),
        ("(limit 'patience')", False),
        ("limit exceeded", False),
    ],
)
def test_names_a_limit(message: str, named: bool) -> None:
    assert names_a_limit(message) == named
