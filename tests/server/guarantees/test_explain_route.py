"""Explanations of the server, with and without grammar processes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest

from maskwright.processes import GrammarProcesses
from maskwright.server import create_app
from maskwright.server.guarantees import explain_route
from maskwright.server.guarantees.explain_route import MOST_BYTES
from tests.processes.misbehaving import explain_slowly
from tests.server.scripted import ByteModel, Client, Script, ScriptedEngine

SCHEMA = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"]}


@pytest.fixture(scope="module")
def engine_with_processes() -> Iterator[tuple[ScriptedEngine, GrammarProcesses]]:
    engine = ScriptedEngine(ByteModel())
    processes = GrammarProcesses(engine.loaded.vocab, seconds=2.0)
    yield engine, processes
    processes.close()


def explain(engine: ScriptedEngine, processes: GrammarProcesses | None, **body: Any) -> Any:
    async def exchange() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(cast(Any, engine), processes=processes))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post("/v1/explain", json=body)

    return asyncio.run(exchange())


@pytest.mark.parametrize("remote", [True, False])
def test_a_text_is_explained(
    engine_with_processes: tuple[ScriptedEngine, GrammarProcesses], remote: bool
) -> None:
    engine, processes = engine_with_processes
    body = {"guided_json": SCHEMA, "text": '{"a": 3, "b": 1}', "shown": 3}
    response = explain(engine, processes if remote else None, **body)
    assert response.status_code == 200, response.text
    found = response.json()
    assert (found["verdict"], found["accepted"]) == ("mismatch", 6)
    assert [reason["pointer"] for reason in found["reasons"]] == ["/properties/a/enum"]
    assert found["tokens"]["texts"] == ["1", "2"]
    assert found["place"]["instance"] == "/a"


def test_candidates_that_may_follow_are_reported(client: Client) -> None:
    body = {"guided_regex": "[a-c]x", "text": "", "candidates": [120, 98, 97, 256]}
    found = client.call("POST", "/v1/explain", json=body).json()
    assert found["tokens"]["candidates"] == [98, 97]
    body["candidates"] = [257]
    error = client.call("POST", "/v1/explain", json=body).json()["error"]
    assert error["param"] == "candidates"


@pytest.mark.parametrize("remote", [True, False])
def test_a_quick_explanation_has_no_reasons_and_is_the_same_else(
    engine_with_processes: tuple[ScriptedEngine, GrammarProcesses], remote: bool
) -> None:
    engine, processes = engine_with_processes
    body = {"guided_json": SCHEMA, "text": '{"a": 3, "b": 1}'}
    whole = explain(engine, processes if remote else None, **body).json()
    for _ in range(2):
        quick = explain(engine, processes if remote else None, **body, why=False).json()
        assert quick == {
            name: value
            for name, value in whole.items()
            if name not in ("reasons", "reasons_complete", "nearest")
        }


def test_the_servers_own_rules_are_reasons(client: Client) -> None:
    body: dict[str, Any] = {"guided_json": SCHEMA, "text": '{"a": 1, "b": 2}'}
    found = client.call("POST", "/v1/explain", json=body).json()
    assert [reason["name"] for reason in found["reasons"]] == ["additional_properties"]
    body["maskwright"] = {"additional_properties": "allow"}
    assert client.call("POST", "/v1/explain", json=body).json()["verdict"] == "match"


def test_tools_are_explained(client: Client) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": SCHEMA}}
    body = {"tools": [tool], "tool_choice": "required", "text": '{"name": "look", "arguments": {'}
    found = client.call("POST", "/explain", json=body).json()
    assert found["verdict"] == "incomplete"
    assert found["continuations"]["forced"] == '"a": '


@pytest.mark.parametrize(
    ("call", "pointer", "name"),
    [
        ('{"name": "look", "arguments": {"a": 3', "/look/properties/a/enum", "enum"),
        ('{"name": "look", "arguments": {"a": 1, "b": 9}', "/look/$defs/few/maximum", "maximum"),
        ('{"name": "items", "arguments": {"a": 3', "/items/properties/a/type", "type"),
        ('{"name": "items", "arguments": {}', "/items/required", "required"),
        ('{"name": "look", "arguments": {"a": 1, "c', None, "additional_properties"),
        ('{"name":"look"', None, None),
    ],
)
@pytest.mark.parametrize("remote", [True, False])
def test_reasons_of_tools_begin_with_the_name_of_the_tool(
    engine_with_processes: tuple[ScriptedEngine, GrammarProcesses],
    remote: bool,
    call: str,
    pointer: str | None,
    name: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a fault in the call around the arguments, no keyword is the reason."""
    if not remote:  # this process may have to collect the garbage of all tests before
        monkeypatch.setattr("maskwright.workbench.reasons.MOST_SECONDS", math.inf)
    few = {"$defs": {"few": {"maximum": 5}}}
    look = {**SCHEMA, "properties": {"a": {"enum": [1, 2]}, "b": {"$ref": "#/$defs/few"}}, **few}
    items = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tools = [
        {"type": "function", "function": {"name": each, "parameters": parameters}}
        for each, parameters in (("look", look), ("items", items))
    ]
    engine, processes = engine_with_processes
    body = {"tools": tools, "tool_choice": "required", "text": call}
    found = explain(engine, processes if remote else None, **body).json()
    assert (found["verdict"], found["reasons_complete"]) == ("mismatch", True)
    reasons = [(each["pointer"], each["name"]) for each in found["reasons"]]
    assert reasons == ([] if name is None else [(pointer, name)])


def test_a_text_that_is_too_long_is_refused_with_a_way_out(client: Client) -> None:
    for fields in ({"text": "a" * (MOST_BYTES + 1)}, {"tokens": [97] * (MOST_BYTES + 1)}):
        response = client.call("POST", "/v1/explain", json={"guided_regex": "a*", **fields})
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (400, "invalid_value")
        assert error["param"] in fields
        assert "at most 1,048,576" in error["message"]
        assert "maskwright match" in error["message"]
    body = {"guided_regex": "a*", "text": "a" * MOST_BYTES}
    assert client.call("POST", "/v1/explain", json=body).json()["verdict"] == "match"


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"guided_regex": "(", "text": ""}, "guided_regex", "invalid_regex"),
        ({"guided_json": {"type": "x"}, "text": ""}, "guided_json", "invalid_json_schema"),
        ({"guided_json": False, "text": ""}, "guided_json", "unsatisfiable_json_schema"),
        ({"guided_regex": "a", "tokens": [300]}, "tokens", "invalid_value"),
    ],
)
def test_errors_name_their_field(
    engine_with_processes: tuple[ScriptedEngine, GrammarProcesses],
    body: dict[str, Any],
    param: str,
    code: str,
) -> None:
    for processes in (engine_with_processes[1], None):
        response = explain(engine_with_processes[0], processes, **body)
        assert response.status_code == 400
        error = response.json()["error"]
        assert (error["param"], error["code"]) == (param, code)


def test_a_shape_that_takes_too_long_is_refused(
    engine_with_processes: tuple[ScriptedEngine, GrammarProcesses],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explain_route, "explained", explain_slowly)
    response = explain(*engine_with_processes, guided_regex="a", text="")
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["param"], error["code"]) == ("guided_regex", "limit_exceeded")


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_explained_after_its_end(client: Client, stream: bool) -> None:
    client.engine.script = Script(texts=("ab", "c"), spelled=True)
    asked: dict[str, Any] = {"maskwright": {"explain": True}, "n": 2}
    if stream:
        id = client.events(**asked)[0]["id"]
    else:
        answer = client.chat(**asked).json()
        assert "maskwright" not in answer["choices"][0]
        id = answer["id"]
    for choice in (0, 1):
        found = client.call("POST", "/v1/explain", json={"id": id, "choice": choice}).json()
        assert (found["id"], found["choice"]) == (id, choice)
        assert [step["text"] for step in found["steps"]] == ["a", "b", "c"]
    missing = client.call("POST", "/v1/explain", json={"id": id, "choice": 2})
    assert missing.status_code == 404
    assert missing.json()["error"]["param"] == "id"


def test_answers_that_did_not_ask_are_not_kept(client: Client) -> None:
    answer = client.chat(maskwright={"trace": "tokens"}).json()
    response = client.call("POST", "/v1/explain", json={"id": answer["id"]})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
