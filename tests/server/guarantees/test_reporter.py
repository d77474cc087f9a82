"""Reports of answers, with verdicts that come from a grammar process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from maskwright.processes import GrammarProcesses
from maskwright.server.answer.parts import TextPart, WholeAnswer
from maskwright.server.guarantees import reporter
from maskwright.server.guarantees.reporter import Reporter
from maskwright.server.recipes import Recipes
from maskwright.server.request.completion_requests import ChatCompletionRequest
from tests.server.scripted import BYTES, HELLO, Client, Script


@pytest.fixture(scope="module")
def processes() -> Iterator[GrammarProcesses]:
    processes = GrammarProcesses(BYTES, seconds=2.0)
    yield processes
    processes.close()


def report(processes: GrammarProcesses | None, text: str, **fields: Any) -> Any:
    request = ChatCompletionRequest.parse({**HELLO, **fields})
    message = WholeAnswer()
    message.add(TextPart(text))
    made = Reporter(request, Recipes("spaced", "hermes"), None, BYTES, processes)
    return asyncio.run(made.report(message, tuple(text.encode()), None))


def test_valid_is_true_only_if_every_check_says_so(processes: GrammarProcesses) -> None:
    schema = {"type": "integer"}
    assert report(processes, "3", guided_json=schema)["valid"] is True
    body = report(processes, "3.5", guided_json=schema)
    assert body["valid"] is False
    assert body["checks"][0]["errors"][0]["keyword"] == "type"
    assert report(processes, '"x"', guided_json={"pattern": r"\p{L}"})["valid"] is None
    assert report(processes, "x")["valid"] is None


def test_a_check_that_never_ends_is_not_decided(
    processes: GrammarProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = {"pattern": "^(a+)+$b"}
    body = report(processes, json.dumps("a" * 60), guided_json=hostile)
    assert body["valid"] is None
    assert "seconds" in body["checks"][0]["reason"]
    monkeypatch.setattr(reporter, "PATIENCE", 0.1)
    body = report(processes, json.dumps("a" * 60), guided_json=hostile)
    assert body["checks"][0]["reason"] == "it takes more than 0.1 seconds"


def test_without_processes_nothing_is_validated() -> None:
    body = report(None, "3", guided_json={"type": "integer"})
    assert body["valid"] is None
    assert "without grammar processes" in body["checks"][0]["reason"]


@pytest.mark.parametrize("stream", [False, True])
def test_each_choice_has_its_report(client: Client, stream: bool) -> None:
    client.engine.script = Script(texts=("ab",))
    fields: dict[str, Any] = {"guided_regex": "[a-z]+", "n": 2, "maskwright": {"report": True}}
    if stream:
        events = client.events(**fields)
        choices = [choice for event in events[:-1] for choice in event["choices"]]
        by_index = {choice["index"]: choice for choice in choices if choice["finish_reason"]}
        assert not any("maskwright" in choice for choice in choices if not choice["finish_reason"])
    else:
        by_index = {choice["index"]: choice for choice in client.chat(**fields).json()["choices"]}
    assert set(by_index) == {0, 1}
    for choice in by_index.values():
        assert choice["maskwright"]["report"]["shape"] == "regex"
        assert choice["maskwright"]["report"]["checks"][0]["subject"] == "answer"
    assert "maskwright" not in client.chat().json()["choices"][0]
