"""The bodies of requests in the document against the parser, in both directions: what the document
allows the parser accepts, and what it forbids the parser refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from maskwright.errors import InputError
from maskwright.server.guarantees.explain_route import parse_explain_request
from maskwright.server.openapi.document import GENERATING, schemas
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.completion_requests import ChatCompletionRequest, CompletionRequest
from maskwright.server.request.response_request import ResponseRequest
from maskwright.server.request.sampling_fields import HARMLESS, NEUTRAL
from maskwright.server.request.shape import FIELDS as SHAPES
from tests.server.scripted import Client

SCHEMAS: Any = schemas()
MESSAGES = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "f"}}
Parse = Callable[[dict[str, Any]], object]

REQUESTS: dict[str, tuple[Parse, dict[str, Any]]] = {
    "ChatCompletionRequest": (ChatCompletionRequest.parse, {"messages": MESSAGES}),
    "CompletionRequest": (CompletionRequest.parse, {"prompt": "hello"}),
    "ResponseRequest": (ResponseRequest.parse, {"input": "hello"}),
    "AnthropicRequest": (AnthropicRequest.parse, {"messages": MESSAGES}),
}
MODELS = {model.__name__: model for model in GENERATING}

BESIDE: dict[str, dict[str, Any]] = {
    "best_of": {"n": 1},
    "continuation": {"stream": True},
    "function_call": {"functions": [{"name": "f"}]},
    "max_tokens": {"echo": True},
    "tool_choice": {"tools": [TOOL]},
    "top_logprobs": {"logprobs": True},
}
"""Fields that need others beside them, which the document says in words."""

ANTHROPIC_TOOL = {"name": "f", "input_schema": {"type": "object"}}
ANTHROPIC_BESIDE = {**BESIDE, "tool_choice": {"tools": [ANTHROPIC_TOOL]}}

CONTINUATION = {
    "key": "k",
    "created": 1,
    "seeds": [1],
    "deltas": [[0, False, None, 5]],
    "events": 1,
}
ANY_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1.0, 20, 21, 0.5, 1.5, -0.5, 1e300, "", "a", "auto", "none"),
    *("disabled", "raw", "tokens", [], [0], [1, 2], [1.0], [-1], [0.5], [None], [True], ["a"]),
    *(
        ["a", ""],
        [""],
        ["a"] * 5,
        ["a"] * 65,
        "a" * 64,
        "a" * 65,
        [["a"]],
        [[1]],
        [[]],
        {},
        {"a": 1},
        {"1": 1},
        {"1": 101},
    ),
    *({"1": -100}, {"1234567890": 1}, {"1": None}, {"a": "b"}, [{}], [{"a": 1}], "x" * 129),
)
MESSAGE_VALUES: tuple[Any, ...] = tuple(
    [message]
    for message in (
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": ""},
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": "a"}]},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "user", "content": [{"type": "refusal", "refusal": "a"}]},
        {"role": "user", "content": ["a", {"type": "text", "text": "b"}]},
        {"role": "user", "content": [1]},
        {"role": "user", "content": [{"type": "thinking", "thinking": "a"}]},
        {"role": "assistant", "content": ["a", {"type": "thinking", "thinking": "b"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": ["b"]}]},
        {"role": "assistant", "content": [{"type": "thinking"}]},
        {"role": "user", "content": "a", "name": 1},
        {"role": "nobody", "content": "a"},
        {"content": "a"},
        {"role": "assistant"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "a"}]},
        {"role": "assistant", "refusal": 1},
        {"role": "assistant", "reasoning": "a"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]},
        {"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"name": "f"}}]},
        {"role": "assistant", "tool_calls": [{"type": "custom", "function": {"name": "f"}}]},
        {"role": "assistant", "tool_calls": [{"type": "other", "function": {"name": "f"}}]},
        {"role": "assistant", "function_call": {"name": "f"}},
        {"role": "assistant", "function_call": {}},
        {"role": "tool", "content": "a", "tool_call_id": "c"},
        {"role": "function", "content": "a", "name": "f"},
        {"type": "message", "role": "user", "content": "a"},
        {"type": "reasoning", "summary": [{"text": "a"}]},
        {"type": "reasoning", "content": [1]},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "function_call", "arguments": "{}"},
        {"type": "custom_tool_call", "name": "f", "input": "a"},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
        {"type": "function_call_output", "output": "a"},
        {"type": "item_reference", "id": "a"},
    )
)
FORMAT_VALUES: tuple[Any, ...] = (
    {"type": "text"},
    {"type": "text", "schema": {}},
    {"type": "json_object"},
    {"type": "json_object", "schema": {"type": "object"}},
    {"type": "json_schema"},
    {"type": "json_schema", "schema": True, "name": "n", "strict": True},
    {"type": "json_schema", "json_schema": {}},
    {"type": "json_schema", "json_schema": {"schema": {}, "name": "a b"}},
    {"type": "json_schema", "json_schema": {"schema": 1}},
    {"type": "json_schema", "json_schema": {"schema": {}, "other": 1}},
    {"type": "regex", "regex": "a"},
    {"type": "regex", "value": "a"},
    {"type": "regex"},
    {"type": "regex", "regex": ""},
    {"type": "grammar", "grammar": "a", "syntax": "lark"},
    {"type": "grammar", "grammar": "a", "syntax": "other"},
    {"type": "grammar"},
    {"type": "sound"},
    {"schema": {}},
    {"json": {}},
    {"json": 1},
    {"regex": "a"},
    {"choice": ["a"]},
    {"choice": []},
    {"choice": "a"},
    {"grammar": "a", "disable_any_whitespace": True},
    {"grammar": {"syntax": "gbnf", "definition": "a"}},
    {"grammar": {"syntax": "regex", "definition": "a"}},
    {"grammar": {"syntax": "gbnf"}},
    {"json_object": True},
    {"json_object": False},
    {"json": {}, "regex": "a"},
    {"json": {}, "whitespace_pattern": "a"},
    {"json": {}, "disable_any_whitespace": 1},
    {"structural_tag": {"type": "structural_tag"}},
    {"format": {"type": "text"}, "verbosity": "low"},
    {"verbosity": "loud"},
    {"verbosity": None},
    {"summary": "auto", "effort": "low"},
    {"summary": "loud"},
    {"effort": None},
    {"effort": "xhigh"},
    {"effort": "max"},
    {"generate_summary": "loud", "summary": None},
    {"format": {"type": "regex", "regex": "a"}, "other": 1},
    {"name": "f"},
    {"name": "g h"},
)
TOOL_VALUES: tuple[Any, ...] = (
    [TOOL],
    [{"function": {"name": "f", "parameters": {"type": "object"}}}],
    [{"type": "function", "function": {"name": "f g"}}],
    *(
        [{"type": "function", "function": {"name": name}}]
        for name in ("mcp:files/read.1", "天気", "मौसम", "f" * 128, "f" * 129, "", "f+", "f\ng")
    ),
    [{"type": "function", "function": {"name": "f", "parameters": 1}}],
    [{"type": "function", "name": "f", "strict": True}],
    [{"type": "function"}],
    [{"type": "web_search"}],
    [{"name": "f"}],
    [{"name": "f", "type": None, "function": None, "parameters": None, "description": None}],
    [{"type": None, "function": {"name": "f", "parameters": None, "strict": None}}],
    [{"type": "custom", "name": "f"}],
    [{"type": "custom", "custom": {"name": "f", "format": {"type": "text"}}}],
    [{"type": "custom", "custom": {"name": "f", "format": {"type": "grammar"}}}],
    [{"type": "custom", "name": "f", "format": {"type": "grammar", "syntax": "lark"}}],
    [
        {
            "type": "custom",
            "name": "f",
            "format": {"type": "grammar", "syntax": "regex", "definition": "a"},
        }
    ],
    *(
        [
            {
                "type": "custom",
                "name": "f",
                "format": {"type": "grammar", "syntax": syntax, "definition": "a"},
            }
        ]
        for syntax in ("gbnf", "ebnf", "peg")
    ),
    [
        {
            "type": "custom",
            "custom": {
                "name": "f",
                "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "a"}},
            },
        }
    ],
    *("required", "any", {"type": "function", "function": {"name": "f"}}, {"type": "function"}),
    *({"type": "function", "name": "f"}, {"type": "other", "name": "f"}),
    {"type": "allowed_tools", "mode": "auto", "tools": [{"name": "f"}]},
    {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [TOOL]}},
    {"type": "allowed_tools", "allowed_tools": {"mode": "other", "tools": [TOOL]}},
    {"type": "allowed_tools", "tools": []},
)
ANTHROPIC_TOOLS: tuple[Any, ...] = (
    [ANTHROPIC_TOOL],
    [{**ANTHROPIC_TOOL, "type": "custom", "description": "d", "cache_control": {"type": "x"}}],
    [{**ANTHROPIC_TOOL, "type": "bash_20250124"}],
    [{**ANTHROPIC_TOOL, "input_schema": None}],
    [{**ANTHROPIC_TOOL, "input_schema": True}],
    [{**ANTHROPIC_TOOL, "defer_loading": True}],
    [{**ANTHROPIC_TOOL, "defer_loading": False, "allowed_callers": ["direct"]}],
    [{**ANTHROPIC_TOOL, "allowed_callers": ["code_execution_20250825"]}],
    [{**ANTHROPIC_TOOL, "parameters": {}}],
    {"type": "any"},
    {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
    {"type": "tool"},
    {"name": "f"},
    {"type": "none", "disable_parallel_tool_use": 1},
)
SETTING_VALUES: tuple[Any, ...] = (
    {"type": "enabled", "budget_tokens": 1024},
    {"type": "enabled", "budget_tokens": 0},
    {"type": "enabled"},
    {"type": "disabled"},
    {"type": "adaptive", "display": "omitted"},
    {"type": "off"},
    {"effort": "max"},
    {"effort": "none"},
    {"effort": "low", "task_budget": 3},
    {"format": {"type": "json_schema", "schema": {}}},
    {"format": {"type": "json_schema"}},
    {"user_id": "u"},
    {"user_id": 1},
    {"edits": []},
    {"edits": [{"type": "clear_tool_uses_20250919"}]},
    [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}],
    [{"type": "image"}],
)
BLOCK_VALUES: tuple[Any, ...] = tuple(
    [{"role": role, "content": [block]}]
    for role, block in (
        ("user", {"type": "tool_result", "tool_use_id": "c"}),
        ("user", {"type": "tool_result", "tool_use_id": "c", "content": "a", "is_error": True}),
        ("user", {"type": "tool_result", "tool_use_id": "c", "content": 1}),
        ("user", {"type": "tool_result", "content": "a"}),
        ("user", {"type": "document", "source": {"type": "text", "data": "a"}, "title": "t"}),
        ("user", {"type": "document", "source": {"type": "base64", "data": "a"}}),
        ("user", {"type": "document"}),
        ("assistant", {"type": "thinking", "thinking": "a", "signature": "s"}),
        ("assistant", {"type": "redacted_thinking", "data": "a"}),
        ("assistant", {"type": "tool_use", "id": "c", "name": "f", "input": {}}),
        ("assistant", {"type": "tool_use", "id": "c", "name": "f", "input": "{}"}),
        ("assistant", {"type": "tool_use", "id": "c", "input": {}}),
        ("assistant", {"type": "server_tool_use", "id": "c", "name": "f", "input": {}}),
        ("nobody", {"type": "text", "text": "a"}),
        ("assistant", {"type": "tool_result", "tool_use_id": "c"}),
        ("user", {"type": "tool_use", "id": "c", "name": "f", "input": {}}),
        ("user", {"type": "thinking", "thinking": "a"}),
        ("system", {"type": "text", "text": "a"}),
        ("system", {"type": "tool_result", "tool_use_id": "c"}),
    )
)
OWN_VALUES: tuple[Any, ...] = (
    {"timeout": 0},
    {"timeout": 0.5},
    {"trace": "tokens"},
    {"trace": "all"},
    {"trace": None, "report": True, "explain": False, "service": "batch"},
    {"report": 1},
    {"additional_properties": "allow"},
    {"numbers": "any"},
    {"numbers": 1},
    {"unusable_tools": "omit"},
    {"unusable_tools": "drop"},
    {"additional_properties": True},
    {"continuation": CONTINUATION},
    {"continuation": {}},
    {"unknown": 1},
    {"include_usage": True},
    {"include_usage": 1},
)


def bounds(schema: Any) -> Iterator[Any]:
    """The values at the bounds of a schema's numbers and lengths, and those just outside."""
    match schema:
        case {"minimum": low, "maximum": high}:
            step = 1 if schema["type"] == "integer" else 0.001
            yield from (low, high, low - step, high + step)
        case {"maxLength": most}:
            yield from ("x" * most, "x" * (most + 1))
        case _:
            pass
    for member in schema.values() if isinstance(schema, dict) else ():
        for inner in member if isinstance(member, list) else (member,):
            yield from bounds(inner)


def validator(schema: Any) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": {"schemas": SCHEMAS}})


def is_semantic(name: str, value: Any) -> bool:
    """Whether a value of a form that is allowed is refused for what it says: text that should be
    JSON, or the name of a tool that isn't among the tools."""
    json_texts = {"guided_json", "json_schema"}
    return (name in json_texts and isinstance(value, str)) or (
        name == "structured_outputs" and isinstance(value, dict) and "json" in value
    )


def probes(request: str) -> Iterator[tuple[str, Any]]:
    """Every field of a request with many values, those at its bounds among them."""
    for name, schema in SCHEMAS[request]["properties"].items():
        yield from (
            (name, value) for value in (*ANY_VALUES, *bounds(schema), *special(request, name))
        )


def special(request: str, name: str) -> tuple[Any, ...]:
    """Values of the form that a field has."""
    if request == "AnthropicRequest" and name in ("tools", "tool_choice"):
        return ANTHROPIC_TOOLS
    if request == "AnthropicRequest" and name == "messages":
        return BLOCK_VALUES
    if name in ("thinking", "output_config", "metadata", "context_management", "system"):
        return SETTING_VALUES
    if name in ("messages", "input"):
        return MESSAGE_VALUES
    if "tool" in name or "function" in name:
        return TOOL_VALUES
    if name in ("maskwright", "stream_options"):
        return OWN_VALUES
    return FORMAT_VALUES if name in (*SHAPES, "text") else NEUTRAL.get(name, ())


@pytest.mark.parametrize("request_name", MODELS)
def test_the_fields_are_those_of_the_parser(request_name: str) -> None:
    model = MODELS[request_name]
    obeyed, refused = model.obeyed, model.REFUSED
    properties = SCHEMAS[request_name]["properties"]
    assert set(properties) == obeyed | HARMLESS | NEUTRAL.keys() | refused.keys()


@pytest.mark.parametrize("request_name", MODELS)
def test_the_document_allows_what_the_parser_accepts_and_nothing_else(request_name: str) -> None:
    parse, least = REQUESTS[request_name]
    obeyed = MODELS[request_name].obeyed
    properties = SCHEMAS[request_name]["properties"]
    others = ANTHROPIC_BESIDE if request_name == "AnthropicRequest" else BESIDE
    validators = {name: validator(schema) for name, schema in properties.items()}
    differing: list[str] = []
    accepted = refused = 0
    for name, value in probes(request_name):
        kind = "continuation" if isinstance(value, dict) and "continuation" in value else name
        needed = others.get(kind, {}) if name in obeyed else {}
        beside = {other: given for other, given in needed.items() if other in obeyed}
        body = {**least, **beside, name: value}
        allowed = validators[name].is_valid(value)
        try:
            parse(body)
            parsed, why = True, ""
        except InputError as error:
            parsed, why = False, error.message
        accepted, refused = accepted + parsed, refused + (not parsed)
        if allowed != parsed and not (allowed and is_semantic(name, value)):
            differing.append(f"{name}: {value!r:.90} {allowed=} {parsed=} {why}")
    assert not differing, "\n".join(differing)
    assert accepted > 500
    assert refused > 500


EXPLAIN: list[dict[str, Any]] = [
    {"regex": "a", "text": ""},
    {"regex": "a", "text": "", "tokens": None},
    {"regex": "a", "tokens": [1], "shown": 1000, "why": False, "candidates": [2]},
    {"regex": "a", "text": "", "maskwright": {"additional_properties": "allow"}},
    {"tools": [TOOL], "tool_choice": "required", "text": ""},
    {"functions": [{"name": "f"}], "text": "", "model": "m"},
    {"id": "a"},
    {"id": "a", "choice": 1, "model": "m"},
]
NOT_EXPLAIN: list[dict[str, Any]] = [
    {"regex": "a"},
    {"regex": "a", "text": "", "tokens": [1]},
    {"regex": "a", "tokens": [-1]},
    {"regex": "a", "text": "", "shown": 1001},
    {"regex": "a", "text": "", "shown": -1},
    {"regex": "a", "text": "", "why": 1},
    {"regex": "a", "text": "", "other": 1},
    {"regex": "a", "text": "", "maskwright": {"report": True}},
    {"regex": "", "text": ""},
    {"id": "a", "text": ""},
    {"id": "a", "choice": -1},
    {"id": 1},
]


@pytest.mark.parametrize("body", [*EXPLAIN, *NOT_EXPLAIN], ids=str)
def test_explanations_are_asked_for_as_the_document_says(body: dict[str, Any]) -> None:
    allowed = validator(SCHEMAS["ExplainRequest"]).is_valid(body)
    assert allowed == (body in EXPLAIN)
    if allowed:
        parse_explain_request(body)
    else:
        with pytest.raises(InputError):
            parse_explain_request(body)


SHAPE = {"shape": "a", "kind": "regex"}


@pytest.mark.parametrize(
    ("path", "name", "fields", "allowed"),
    [
        ("check", "CheckRequest", {}, True),
        ("check", "CheckRequest", {"shape": None}, False),
        ("check", "CheckRequest", {"kind": "xml"}, False),
        ("check", "CheckRequest", {"seed": 1}, False),
        ("sample", "SampleRequest", {"which": "shortest", "count": 100, "seed": None}, True),
        ("sample", "SampleRequest", {"count": 101}, False),
        ("sample", "SampleRequest", {"count": 0}, False),
        ("sample", "SampleRequest", {"which": "best"}, False),
        ("sample", "SampleRequest", {"seed": -1}, False),
        ("draw", "DrawRequest", {"as": "graph"}, True),
        ("draw", "DrawRequest", {"as": "photo"}, False),
    ],
)
def test_shapes_are_given_as_the_document_says(
    client: Client, path: str, name: str, fields: dict[str, Any], allowed: bool
) -> None:
    body = {**SHAPE, **fields}
    assert validator(SCHEMAS[name]).is_valid(body) == allowed
    response = client.call("POST", f"/v1/{path}", json=body)
    assert response.status_code == (200 if allowed else 400)
