"""Bodies that are made from valid ones by a seed: other types, deep nesting, huge numbers, odd
Unicode, fields that are missing, that are new, that are twice there, and broken bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from benchmarks.server.mixed_cases import ARGUMENTS, CHAT, COMPLETIONS, RESPONSES, mixed_case

TOKENIZE, DETOKENIZE, EXPLAIN = "/tokenize", "/detokenize", "/v1/explain"
PATHS: Final = (CHAT, RESPONSES, COMPLETIONS, TOKENIZE, DETOKENIZE, EXPLAIN)

DEEP: Final = 200
ODD_TEXTS: Final = (
    "",
    "\x00",
    "\ud800",
    "\udfff\ud800",
    "\U0010ffff",
    "e\u0301" * 50,
    "\u202e\u200d\ufeff",
    "👩‍👩‍👧‍👦",
    "𝒳" * 300,
    "/" * 100,
    "$ref",
    "a" * 5000,
    "<|assistant|>",
    "(" * 300,
    "(?:a{0,1000}){0,1000}",
    "start: start",
    "[" * 100,
)
ODD_NUMBERS: Final = (
    *(0, -1, 1, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**40, 10**400),
    *(0.5, -0.0, 1e-320, 1e308, float("inf"), float("-inf"), float("nan")),
)
NAMES: Final = (
    *("type", "schema", "json_schema", "format", "name", "tools", "tool_choice", "function"),
    *("messages", "input", "prompt", "n", "best_of", "logprobs", "top_logprobs", "stop", "seed"),
    *("max_tokens", "temperature", "logit_bias", "stream", "stream_options", "structured_outputs"),
    *("guided_regex", "guided_json", "grammar", "regex", "maskwright", "echo", "content", "role"),
    *("properties", "items", "$ref", "$defs", "enum", "const", "pattern", "anyOf", "not"),
    *("minLength", "maxItems", "minimum", "multipleOf", "required", "additionalProperties"),
    *("stop_token_ids", "bad_words", "allowed_token_ids", "min_tokens", "chat_template_kwargs"),
    *("text", "reasoning", "include", "parallel_tool_calls", "functions", "function_call"),
)


def valid_body(path: str, draw: Random) -> dict[str, Any]:
    """A body that its endpoint takes, with an answer of few tokens."""
    if path == TOKENIZE:
        messages = [{"role": "user", "content": "Anna"}]
        return draw.choice([{"prompt": "Anna Berg"}, {"content": "Anna"}, {"messages": messages}])
    if path == DETOKENIZE:
        return {"tokens": [draw.randrange(4000) for _ in range(5)]}
    if path == EXPLAIN:
        return {"json_schema": copied(ARGUMENTS["get_weather"]), "text": '{"city": "Os'}
    while (case := mixed_case(draw.randrange(10**9))).path != path:
        pass
    limit = "max_output_tokens" if path == RESPONSES else "max_tokens"
    return {**copied(case.body), limit: draw.randint(1, 16)}


def copied(body: dict[str, Any]) -> dict[str, Any]:
    """A body that shares nothing, so that it may be changed."""
    return json.loads(json.dumps(body))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container within a value with each of its keys or indices."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys:
            yield value, key
            yield from places(value[key])


def odd_value(draw: Random) -> Any:
    """A value that few fields expect."""
    kind = draw.randrange(8)
    if kind == 0:
        return draw.choice(ODD_TEXTS)
    if kind == 1:
        return draw.choice(ODD_NUMBERS)
    if kind == 2:
        return nested(draw, draw.choice([2, 20, DEEP]))
    if kind == 3:
        return [draw.choice(ODD_TEXTS + ODD_NUMBERS) for _ in range(draw.choice([0, 3, 30]))]
    if kind == 4:
        return {draw.choice(NAMES): draw.choice(ODD_TEXTS) for _ in range(draw.randint(0, 4))}
    return draw.choice([None, True, False, [], {}, "", [[]], [{}], {"": {}}, "auto", "none"])


def nested(draw: Random, depth: int) -> Any:
    """Lists or objects in each other."""
    value: Any = draw.choice([None, 1, "x"])
    name = draw.choice(NAMES) if draw.random() < 0.5 else None
    for _ in range(depth):
        value = [value] if name is None else {name: value}
    return value


def mutate(body: Any, draw: Random) -> None:
    """Change one place of a body."""
    found = list(places(body))
    if not found:
        return
    holder, key = draw.choice(found)
    other, from_there = draw.choice(found)
    kind = draw.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[draw.choice(NAMES)] = odd_value(draw)
    elif kind == 2 and isinstance(holder, dict):
        holder[draw.choice([key * 2, key[:-1], key.upper(), draw.choice(ODD_TEXTS)])] = holder[key]
    elif kind == 3:
        holder[key] = json.loads(json.dumps(other[from_there]))
    else:
        holder[key] = odd_value(draw)


def fuzzed(seed: int) -> tuple[str, bytes]:
    """The path and the bytes of the body of a seed."""
    draw = Random(seed)
    path = draw.choice(PATHS)
    body = valid_body(path, draw)
    for _ in range(draw.choice([1, 1, 2, 3, 8])):
        mutate(body, draw)
    data = json.dumps(body).encode()
    if draw.random() < 0.05:
        place = draw.randrange(len(data) + 1)
        data = data[:place] + draw.randbytes(draw.randint(0, 4)) + data[place + 1 :]
    return path, data
