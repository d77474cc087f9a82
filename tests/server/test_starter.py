"""A request on its way into the engine: its limit, prompt, grammar, seeds and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.engine import EngineConfig
from maskwright.errors import (
    OverloadedError,
)
from maskwright.server import ServerConfig
from maskwright.server.access import ApiKey, KeyRing, digest_of
from maskwright.server.starter import SEED_STRIDE, choice_seed
from tests.server.scripted import CONTEXT, HELLO, Client, Script, ScriptedEngine, usage

ANY_OBJECT = {"type": "json_object"}


def test_n_choices_have_their_own_seeds(client: Client, engine: ScriptedEngine) -> None:
    body = client.chat(n=3, seed=5).json()
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2]
    assert body["usage"] == usage(11, 6)
    seeds = [request.params.seed for request in engine.requests]
    assert seeds == [choice_seed(5, index) for index in range(3)]
    assert seeds[0] == 5
    assert len(set(seeds)) == 3


def test_without_a_seed_the_engine_chooses(client: Client, engine: ScriptedEngine) -> None:
    client.chat(n=2)
    assert [request.params.seed for request in engine.requests] == [None, None]


def test_the_limit_is_the_clients_or_the_rest_of_the_context(
    client: Client, engine: ScriptedEngine
) -> None:
    for fields in ({}, {"max_tokens": 7}, {"max_tokens": 10 * CONTEXT}):
        client.chat(**fields)
    prompt = len("user: hello")
    asked = [request.max_tokens for request in engine.requests]
    assert asked == [CONTEXT - prompt, 7, CONTEXT - prompt]


def test_a_prompt_over_the_context(client: Client, engine: ScriptedEngine) -> None:
    error = client.chat(messages=[{"role": "user", "content": "x" * CONTEXT}]).json()["error"]
    assert (error["param"], error["code"]) == ("messages", "context_length_exceeded")
    assert str(CONTEXT) in error["message"]
    assert not engine.requests


def test_the_model_is_shown_the_schema(client: Client, engine: ScriptedEngine) -> None:
    schema = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {}}}
    client.chat(response_format={"type": "json_schema", "json_schema": {"schema": schema}})
    shown = '{"type":"object","properties":{"b":{"type":"integer"},"a":{}}}'
    assert engine.loaded.rendered.response_schema == shown
    client.chat(response_format=ANY_OBJECT)
    assert engine.loaded.rendered.response_schema == '{"type":"object"}'
    client.chat(response_format={"type": "json_schema", "json_schema": {"name": "any"}})
    assert engine.loaded.rendered.response_schema is None


def test_a_limit_too_small_says_what_would_do(client: Client, engine: ScriptedEngine) -> None:
    shape = {"type": "json_schema", "json_schema": {"schema": {"const": "four"}}}
    for field in ("max_tokens", "max_completion_tokens"):
        error = client.chat(response_format=shape, **{field: 2}).json()["error"]
        assert (error["param"], error["code"]) == (field, "max_tokens_too_small")
        assert "6 tokens" in error["message"]
    long = [{"role": "user", "content": "x" * (CONTEXT - len("user: ") - 2)}]
    error = client.chat(response_format=shape, messages=long).json()["error"]
    assert (error["param"], error["code"]) == ("messages", "max_tokens_too_small")
    assert not engine.requests
    assert client.chat(response_format=shape, max_tokens=6).status_code == 200


def test_a_token_outside_the_vocabulary(client: Client) -> None:
    assert client.chat(logit_bias={"256": 1}).status_code == 200
    response = client.chat(logit_bias={"257": 1})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "logit_bias"


def test_a_template_that_fails_is_the_messages_fault(client: Client) -> None:
    response = client.chat(messages=[{"role": "user", "content": "a template fails"}])
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "messages"
    assert "roles must alternate" in response.json()["error"]["message"]


def test_a_request_names_its_class(client: Client, engine: ScriptedEngine) -> None:
    assert client.chat().status_code == 200
    assert client.chat(maskwright={"service": "batch"}).status_code == 200
    assert [asked.service for asked in engine.requests] == ["interactive", "batch"]
    refused = client.chat(maskwright={"service": "bulk"})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "maskwright.service"
    assert "interactive, agent, batch" in refused.json()["error"]["message"]


def test_a_request_names_its_user_its_salt_and_its_time(
    client: Client, engine: ScriptedEngine
) -> None:
    assert client.chat().status_code == 200
    own = {"timeout": 2}
    assert client.chat(user="anna", cache_salt="s", maskwright=own).status_code == 200
    assert [(asked.client, asked.cache_salt, asked.timeout) for asked in engine.requests] == [
        ("", "", 600.0),
        ("anna", "s", 2.0),
    ]


def test_the_server_limits_the_time_of_every_request(
    client: Client, engine: ScriptedEngine
) -> None:
    client.config = ServerConfig(request_seconds=3)
    assert client.chat().status_code == 200
    for seconds in (1, 3):
        assert client.chat(maskwright={"timeout": seconds}).status_code == 200
    assert [asked.timeout for asked in engine.requests] == [3, 1, 3]
    refused = client.chat(maskwright={"timeout": 3.5})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "maskwright.timeout"
    assert "3 seconds at most, not 3.5" in refused.json()["error"]["message"]
    assert len(engine.requests) == 3


def test_answers_have_a_time_limit_by_default(client: Client, engine: ScriptedEngine) -> None:
    assert client.chat(maskwright={"timeout": 900}).status_code == 200
    assert client.chat(maskwright={"service": "batch"}).status_code == 200
    assert client.chat(maskwright={"service": "batch", "timeout": 9}).status_code == 200
    assert client.chat(maskwright={"service": "agent"}).status_code == 200
    client.config = ServerConfig(request_seconds=float("inf"))
    assert client.chat().status_code == 200
    assert client.chat(maskwright={"timeout": 900}).status_code == 200
    limits = [asked.timeout for asked in engine.requests]
    assert limits == [900, None, 9, 600, None, 900]


def test_a_key_whose_class_is_batch_has_no_time_limit_either(
    client: Client, engine: ScriptedEngine
) -> None:
    """Its requests are of the class `batch` although they name none."""
    key = ApiKey("nightly", digest_of("secret"), classes=("batch",))
    client.config = ServerConfig(keys=KeyRing([key]))
    headers = {"authorization": "Bearer secret"}
    answer = client.call("POST", "/v1/chat/completions", json=HELLO, headers=headers)
    assert answer.status_code == 200
    assert [(asked.service, asked.timeout) for asked in engine.requests] == [("batch", None)]


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("user", 3, "user"),
        ("cache_salt", ["s"], "cache_salt"),
        ("maskwright", {"timeout": 0}, "maskwright.timeout"),
        ("maskwright", {"timeout": "soon"}, "maskwright.timeout"),
        ("n", 10, "n"),
    ],
)
def test_what_they_cannot_be_is_refused(
    client: Client, engine: ScriptedEngine, field: str, value: object, param: str
) -> None:
    engine.config = EngineConfig(max_running=4, max_waiting=5)
    assert client.chat(n=9).status_code == 200
    engine.requests.clear()
    refused = client.chat(**{field: value})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)
    assert not engine.requests


def test_choices_already_begun_are_taken_back(client: Client, engine: ScriptedEngine) -> None:
    engine.refuse = lambda n: OverloadedError("full", retry_after=1) if n == 2 else None
    assert client.chat(n=3).status_code == 429
    assert not engine.running


@pytest.mark.parametrize(
    ("seed", "index", "expected"),
    [
        (None, 0, None),
        (None, 3, None),
        (0, 0, 0),
        (5, 0, 5),
        (2**64 - 1, 0, 2**64 - 1),
        (1, 1, 1 + SEED_STRIDE),
        (2**64 - 1, 1, SEED_STRIDE - 1),  # modulo 2^64
    ],
)
def test_the_seed_of_a_choice(seed: int | None, index: int, expected: int | None) -> None:
    assert choice_seed(seed, index) == expected


def test_derived_seeds_are_all_different() -> None:
    """As many as a request may ask for, and for neighbouring seeds of clients too."""
    seeds = [choice_seed(seed, index) for seed in range(8) for index in range(128)]
    assert len(set(seeds)) == len(seeds)
    assert all(seed is not None and 0 <= seed < 2**64 for seed in seeds)


CONST = {"type": "json_schema", "json_schema": {"schema": {"const": "four"}}}
"""Its only answer takes six tokens."""
BUDGETS: list[tuple[dict[str, Any], int, str | None]] = [
    # fields, room that the prompt leaves; the field that is named as too small
    ({}, 6, None),
    ({}, 5, "messages"),
    ({"max_tokens": 6}, 6, None),
    ({"max_tokens": 5}, 6, "max_tokens"),
    ({"max_tokens": 5}, 5, "max_tokens"),
    ({"max_tokens": 6}, 5, "messages"),  # the client's own limit would do
    ({"max_completion_tokens": 5}, 9, "max_completion_tokens"),
    ({"max_completion_tokens": 9}, 5, "messages"),
]


@pytest.mark.parametrize(("fields", "room", "param"), BUDGETS, ids=str)
def test_which_limit_is_too_small(
    client: Client, engine: ScriptedEngine, fields: dict[str, Any], room: int, param: str | None
) -> None:
    content = "x" * (CONTEXT - len("user: ") - room)
    messages = [{"role": "user", "content": content}]
    response = client.chat(response_format=CONST, messages=messages, **fields)
    if param is None:
        assert response.status_code == 200
        assert [asked.max_tokens for asked in engine.requests] == [6]
    else:
        assert response.status_code == 400
        error = response.json()["error"]
        assert (error["param"], error["code"]) == (param, "max_tokens_too_small")
        assert not engine.requests


def test_stop_strings_are_the_engines_unless_tools_need_them(
    client: Client, engine: ScriptedEngine
) -> None:
    tool = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
    client.chat(stop=["END"])
    client.chat(stop=["END"], tools=[tool], tool_choice="none")
    client.chat(stop=["END"], tools=[tool])  # the grammar of calls ends at them
    assert [asked.stop for asked in engine.requests] == [("END",), ("END",), ()]
    assert [asked.grammar is not None for asked in engine.requests] == [False, False, True]


def test_a_model_by_the_name_of_an_adapter(client: Client, engine: ScriptedEngine) -> None:
    class Adapters(dict[str, int]):
        def have(self, name: str) -> None:
            self[name] += 1

    engine.adapters = Adapters(french=0)
    for model in ("french", "bytes"):
        assert client.chat(model=model).status_code == 200
    assert [asked.adapter for asked in engine.requests] == ["french", None]
    assert engine.adapters == {"french": 1}, "read before the request is submitted"


@pytest.mark.parametrize(
    ("fields", "trace", "scores"),
    [
        ({}, False, False),
        ({"logprobs": True}, False, True),
        ({"maskwright": {"trace": True}}, False, False),
        ({"maskwright": {"trace": "tokens"}}, True, True),
    ],
    ids=str,
)
def test_scores_are_asked_for_where_somebody_reads_them(
    client: Client, engine: ScriptedEngine, fields: dict[str, Any], trace: bool, scores: bool
) -> None:
    engine.script = Script(spelled=scores)
    assert client.chat(**fields).status_code == 200
    (asked,) = engine.requests
    assert (asked.trace, asked.params.logprobs is not None) == (trace, scores)


def test_what_the_template_receives(client: Client, engine: ScriptedEngine) -> None:
    documents = [{"title": "a", "text": "b"}]
    variables = {"enable_thinking": False}
    assert client.chat(chat_template_kwargs=variables, documents=documents).status_code == 200
    rendered = engine.loaded.rendered
    assert rendered.variables == {**variables, "documents": documents}
    assert (rendered.begins_answer, rendered.continues) == (True, False)
    assert client.chat(add_generation_prompt=False, continue_final_message=True).status_code == 200
    rendered = engine.loaded.rendered
    assert (rendered.begins_answer, rendered.continues) == (False, True)


EFFORTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    # the effort, other variables, and what the template receives of both
    ("none", {}, {"reasoning_effort": "none", "enable_thinking": False, "thinking": False}),
    ("low", {}, {"reasoning_effort": "low", "enable_thinking": True, "thinking": True}),
    (
        "none",
        {"enable_thinking": True, "x": 1},
        {"reasoning_effort": "none", "enable_thinking": True, "thinking": False, "x": 1},
    ),
]


@pytest.mark.parametrize(("effort", "more", "expected"), EFFORTS, ids=str)
def test_the_template_is_told_how_much_to_think(
    client: Client, engine: ScriptedEngine, effort: str, more: Any, expected: Any
) -> None:
    assert client.chat(reasoning_effort=effort, chat_template_kwargs=more).status_code == 200
    assert engine.loaded.rendered.variables == expected
    body = {"input": "x", "reasoning": {"effort": effort}, "chat_template_kwargs": more}
    assert client.call("POST", "/v1/responses", json=body).status_code == 200
    assert engine.loaded.rendered.variables == expected


def test_no_effort_is_no_variable(client: Client, engine: ScriptedEngine) -> None:
    assert client.chat(reasoning_effort=None).status_code == 200
    assert not engine.loaded.rendered.variables
    body = {"input": "x", "reasoning": {"summary": "auto"}}
    assert client.call("POST", "/v1/responses", json=body).status_code == 200
    assert not engine.loaded.rendered.variables


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/v1/chat/completions", {"reasoning_effort": 3}, "reasoning_effort"),
        ("/v1/responses", {"reasoning": {"effort": 3}}, "reasoning.effort"),
        ("/v1/responses", {"reasoning": "high"}, "reasoning"),
    ],
)
def test_an_effort_is_a_word(client: Client, path: str, body: dict[str, Any], param: str) -> None:
    said = {"messages": [{"role": "user", "content": "x"}]} if "chat" in path else {"input": "x"}
    error = client.call("POST", path, json={**said, **body}).json()["error"]
    assert error["param"] == param


def test_a_response_has_openais_levels_of_effort(client: Client, engine: ScriptedEngine) -> None:
    """It repeats the effort, unlike a chat, in which a template may have levels of its own."""
    assert client.chat(reasoning_effort="max").status_code == 200
    assert engine.loaded.rendered.variables["reasoning_effort"] == "max"
    body: dict[str, Any] = {"input": "x", "reasoning": {"effort": "max"}}
    response = client.call("POST", "/v1/responses", json=body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["param"] == "reasoning.effort"
    assert "'none', 'minimal', 'low', 'medium', 'high', 'xhigh'" in error["message"]
    assert "chat_template_kwargs" in error["message"]
    body = {"input": "x", "chat_template_kwargs": {"reasoning_effort": "max"}}
    assert client.call("POST", "/v1/responses", json=body).status_code == 200
    assert engine.loaded.rendered.variables == {"reasoning_effort": "max"}


def test_variables_of_which_the_template_can_make_nothing(
    client: Client, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise TypeError("a list is no number")

    monkeypatch.setattr(engine.loaded, "render_chat_texts", fail)
    error = client.chat(chat_template_kwargs={"enable_thinking": []}).json()["error"]
    assert error["param"] == "chat_template_kwargs"
    error = client.chat(reasoning_effort="low").json()["error"]
    assert error["param"] == "reasoning_effort"
    body = {"input": "x", "reasoning": {"effort": "low"}}
    error = client.call("POST", "/v1/responses", json=body).json()["error"]
    assert error["param"] == "reasoning.effort"
    response = client.chat(tools=[{"name": "f", "description": []}])
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "tools"
    assert client.chat().status_code == 500


def test_how_json_is_written_can_be_asked_for(client: Client, engine: ScriptedEngine) -> None:
    """And is not mistaken for a grammar that was compiled before."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": True}}
    compact, spaced, open_ended = '{"a":1,"b":2}', '{"a": 1, "b": 2}', '{"c": 1}'

    def accepted(**fields: Any) -> list[str]:
        asked = fields.pop("maskwright", {})
        outputs = {"json": schema, **fields}
        assert client.chat(structured_outputs=outputs, maskwright=asked).status_code == 200
        grammar = engine.requests[-1].grammar
        assert grammar is not None
        return [
            text
            for text in (compact, spaced, open_ended)
            if grammar.matcher().accept_bytes(text.encode()) == len(text)
        ]

    allow = {"additional_properties": "allow"}
    assert accepted() == [spaced]
    assert accepted(disable_any_whitespace=True) == [compact]
    assert accepted(disable_any_whitespace=False) == [spaced]
    assert accepted(disable_additional_properties=True) == [spaced]
    assert accepted(maskwright=allow) == [spaced, open_ended]
    client.config = ServerConfig(additional_properties="allow")
    assert accepted() == [spaced, open_ended]
    assert accepted(disable_additional_properties=True) == [spaced]
    assert accepted(disable_additional_properties=False) == [spaced, open_ended]
