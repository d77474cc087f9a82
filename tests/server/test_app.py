from __future__ import annotations

import gc
import json
import weakref

import pytest

from maskwright.errors import (
    EmptySupportError,
    EngineStoppedError,
    GenerationError,
    OverloadedError,
)
from maskwright.server.config import ServerConfig
from tests.server.scripted import CONTEXT, ByteModel, Client, Script, ScriptedEngine, usage

ANY_OBJECT = {"type": "json_object"}


def test_a_whole_answer(client: Client, engine: ScriptedEngine) -> None:
    response = client.chat(model="gpt-4o")
    assert response.status_code == 200
    body = response.json()
    assert body.pop("id").startswith("chatcmpl-")
    assert isinstance(body.pop("created"), int)
    assert body.pop("system_fingerprint").startswith("fp_")
    assert body == {
        "object": "chat.completion",
        "model": "gpt-4o",
        "service_tier": "default",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
                "stop_reason": None,
            }
        ],
        "usage": usage(11, 2),
    }
    assert not engine.running


@pytest.mark.parametrize(
    ("end", "reason"), [("stop", "stop"), ("stop_string", "stop"), ("length", "length")]
)
def test_finish_reasons(client: Client, engine: ScriptedEngine, end: str, reason: str) -> None:
    engine.script = Script(end=end)
    assert client.chat().json()["choices"][0]["finish_reason"] == reason


def test_a_grammar_constrains_whatever_strict_says(client: Client, engine: ScriptedEngine) -> None:
    for strict in (None, False, True):
        shape = {"schema": {"type": "integer"}, "strict": strict}
        client.chat(response_format={"type": "json_schema", "json_schema": shape})
    grammars = [request.grammar for request in engine.requests]
    assert grammars[0] is not None
    assert grammars == [grammars[0]] * 3  # compiled once


def test_the_layout_of_answers_is_the_servers(client: Client, engine: ScriptedEngine) -> None:
    texts = {"spaced": b'{"a": 1}', "compact": b'{"a":1}'}
    shape = {"schema": {"properties": {"a": {"type": "integer"}}, "type": "object"}}
    for whitespace, text in texts.items():
        client.config = ServerConfig(whitespace=whitespace)  # type: ignore[arg-type]
        client.chat(response_format={"type": "json_schema", "json_schema": shape})
        grammar = engine.requests[-1].grammar
        assert grammar is not None
        fitting = {name: grammar.matcher().accept_bytes(one) for name, one in texts.items()}
        assert fitting[whitespace] == len(text)
        assert sum(fitting.values()) < sum(map(len, texts.values()))


def test_a_schema_that_is_not_enforced_is_refused_at_its_pointer(client: Client) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "https://example.org/b.json"}}}
    for stream in (False, True):
        response = client.chat(
            stream=stream,
            response_format={"type": "json_schema", "json_schema": {"schema": schema}},
        )
        assert response.status_code == 400
        error = response.json()["error"]
        assert error["param"] == "response_format.json_schema.schema"
        assert "/properties/a/$ref" in error["message"]


def test_overload_says_when_to_come_back(client: Client, engine: ScriptedEngine) -> None:
    engine.refuse = lambda _: OverloadedError("the queue is full", retry_after=1.2)
    for stream in (False, True):
        response = client.chat(stream=stream)
        assert response.status_code == 429
        assert response.headers["retry-after"] == "2"
        assert response.json()["error"]["type"] == "rate_limit_error"


def test_time_that_is_up_is_reported(
    client: Client, engine: ScriptedEngine, caplog: pytest.LogCaptureFixture
) -> None:
    """It is no defect: the log has no traceback of it."""
    engine.script = Script(end="timeout")
    response = client.chat()
    assert (response.status_code, response.json()["error"]["code"]) == (504, "timeout")
    events = client.chat(stream=True).text.strip().split("\n\n")
    assert json.loads(events[-1].removeprefix("data: "))["error"]["code"] == "timeout"
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (EmptySupportError("no token is left to sample"), 400, "no token is left"),
        (EngineStoppedError("secret inside"), 503, "the engine has stopped"),
        (GenerationError("secret inside"), 500, "the server failed"),
        (RuntimeError("secret inside"), 500, "the server failed"),
        (None, 500, "the server failed"),
    ],
)
def test_a_generation_that_fails(
    client: Client, engine: ScriptedEngine, error: Exception | None, status: int, message: str
) -> None:
    engine.script = Script(end="error", error=error)
    response = client.chat()
    assert response.status_code == status
    assert message in response.json()["error"]["message"]
    assert "secret" not in response.text
    engine.script = Script()
    assert client.chat().status_code == 200


def test_a_defect_is_a_500_with_a_request_id(client: Client, engine: ScriptedEngine) -> None:
    engine.refuse = lambda _: ZeroDivisionError("inside")
    response = client.chat()
    assert response.status_code == 500
    assert response.json()["error"]["type"] == "server_error"
    assert "inside" not in response.text
    assert response.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("POST", "/v1/embeddings", 404, "not_found"),
        ("GET", "/v1/chat/completions", 405, "method_not_allowed"),
        ("DELETE", "/v1/models", 405, "method_not_allowed"),
        ("GET", "/v1/models/", 404, "model_not_found"),
    ],
)
def test_paths_and_methods(client: Client, method: str, path: str, status: int, code: str) -> None:
    response = client.call(method, path)
    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    assert response.json()["error"].keys() == {"message", "type", "param", "code"}


@pytest.mark.parametrize("prefix", ["/v1", ""])
def test_models_and_health(client: Client, engine: ScriptedEngine, prefix: str) -> None:
    listed = client.call("GET", f"{prefix}/models").json()
    assert [card["id"] for card in listed["data"]] == ["bytes"]
    card = client.call("GET", f"{prefix}/models/bytes").json()
    assert (card["object"], card["max_model_len"]) == ("model", CONTEXT)
    assert client.call("GET", f"{prefix}/health").status_code == 200
    engine.alive = False
    stopped = client.call("GET", f"{prefix}/health")
    assert stopped.status_code == 503
    assert stopped.json()["error"]["code"] == "engine_stopped"


def test_a_name_with_slashes_can_be_asked_for(client: Client) -> None:
    client.config = ServerConfig(model_name="org/model")
    assert client.call("GET", "/v1/models/org/model").json()["id"] == "org/model"


def test_every_name_has_a_card_as_it_is_answered(client: Client) -> None:
    card = client.call("GET", "/v1/models/gpt-4o").json()
    assert (card["id"], card["object"], card["parent"]) == ("gpt-4o", "model", "bytes")
    assert client.chat(model="gpt-4o").json()["model"] == "gpt-4o"


def test_strict_model_names(client: Client) -> None:
    client.config = ServerConfig(strict_model=True)
    assert client.call("GET", "/v1/models/bytes").status_code == 200
    refused = client.call("GET", "/v1/models/other")
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "model_not_found")
    response = client.chat(model="other")
    assert response.status_code == 404
    error = response.json()["error"]
    assert (error["param"], error["code"]) == ("model", "model_not_found")
    assert client.chat(model="bytes").status_code == 200
    assert client.chat(model=None).json()["model"] == "bytes"


def test_request_ids(client: Client) -> None:
    given = client.call("GET", "/health", headers={"X-Request-Id": "mine-7"})
    assert given.headers["x-request-id"] == "mine-7"
    made = {client.call("GET", "/health").headers["x-request-id"] for _ in range(3)}
    assert len(made) == 3
    long = client.call("GET", "/health", headers={"X-Request-Id": "x" * 500})
    assert long.headers["x-request-id"].startswith("req_")


def test_a_probe_may_ask_for_the_head_alone(client: Client) -> None:
    for path in ("/health", "/v1/health"):
        assert client.call("HEAD", path).status_code == 200


MISSPELT = [
    ("temprature", 0.5, "temperature"),
    ("max_token", 5, "max_tokens"),
    ("max_new_tokens", 5, "max_tokens"),
    ("Temperature", 0.5, "temperature"),
    ("streams", True, "stream"),
    ("message", [], "messages"),
    ("top_logprob", 3, "top_logprobs"),
]


@pytest.mark.parametrize(("name", "value", "meant"), MISSPELT)
def test_a_misspelt_field_is_refused(client: Client, name: str, value: object, meant: str) -> None:
    response = client.chat(**{name: value})
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["param"], error["code"]) == (name, "unknown_field")
    assert f'did you mean "{meant}"?' in error["message"]


@pytest.mark.parametrize(
    "name",
    ["store", "metadata", "custom_field", "x"],
)
def test_unknown_fields_pass(client: Client, name: str) -> None:
    assert client.chat(**{name: 1}).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_a_misspelt_keyword_is_reported_in_a_header(client: Client, stream: bool) -> None:
    schema = {"type": "object", "requred": ["a"], "properties": {"a": {"minimun": 1}}}
    response = client.chat(
        stream=stream,
        response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema}},
    )
    assert response.status_code == 200
    warnings = json.loads(response.headers["x-maskwright-warnings"])
    assert [text.partition(":")[0] for text in warnings] == ["/requred", "/properties/a/minimun"]
    assert "did you mean 'required'?" in warnings[0]
    assert "x-maskwright-warnings" not in client.chat().headers


def test_nothing_keeps_an_application_or_its_engine_alive() -> None:
    """An engine holds the memory of its keys and values, and a process may make many."""
    client = Client(ScriptedEngine(ByteModel()))
    assert client.chat().status_code == 200
    assert client.call("GET", "/v1/models").status_code == 200
    kept = [weakref.ref(client.engine), weakref.ref(client.app())]
    del client
    gc.collect()
    assert [one() for one in kept] == [None, None]
