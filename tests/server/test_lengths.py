"""What a client receives whose prompt or shape is too long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from maskwright.errors import BudgetError
from maskwright.server.prompts import check_least, prompt_too_long, without_shape
from maskwright.server.recipes import Recipes
from maskwright.server.request.completion_requests import ChatCompletionRequest
from maskwright.server.request.shape import FreeText
from tests.server.scripted import BYTES, HELLO

RECIPES = Recipes("spaced", "hermes")
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA}}


def too_small(**fields: Any) -> BudgetError:
    request = ChatCompletionRequest.parse({**HELLO, **fields})
    recipe = RECIPES.of(request.shape, request.tool_use)
    assert recipe is not None
    limit = 500 if request.limit is None else request.limit.tokens
    with pytest.raises(BudgetError) as caught:
        asyncio.run(check_least(request, recipe, recipe.build(BYTES), limit))
    return caught.value


@pytest.mark.parametrize(
    ("fields", "shortest"),
    [
        ({"guided_json": SCHEMA}, "answer of this schema"),
        ({"guided_regex": "a{9}"}, "text of this pattern"),
        ({"guided_choice": ["a" * 9]}, "of these choices"),
        ({"guided_grammar": 'start: "aaaaaaaaa"'}, "text of this grammar"),
        (
            {"structural_tag": {"format": {"type": "const_string", "value": "a" * 9}}},
            "text of this structural tag",
        ),
        ({"tools": [tool("look")], "tool_choice": "required"}, "call of the tool 'look'"),
        (
            {"tools": [tool(name) for name in "abcd"], "tool_choice": "required"},
            "call of one of the tools 'a', 'b', 'c', …",
        ),
        (
            {
                "tools": [tool("a"), tool("b")],
                "tool_choice": {"type": "function", "function": {"name": "b"}},
            },
            "call of the tool 'b'",
        ),
        ({"tools": [tool("a")], "guided_json": SCHEMA}, "answer or call of the tool 'a'"),
    ],
)
def test_what_is_too_long_is_named(fields: dict[str, Any], shortest: str) -> None:
    error = too_small(max_tokens=3, **fields)
    assert error.message.startswith(f"max_tokens is 3, but the shortest {shortest} found takes ")
    assert error.param == "max_tokens"
    assert f" {error.needed} tokens" in error.message


def test_the_rest_of_the_context_may_be_too_short() -> None:
    error = too_small(guided_regex="a{600}")
    assert error.message.startswith("the prompt leaves 500 tokens of the context")
    assert (error.param, error.needed) == ("messages", 600)


def test_a_prompt_without_its_schema_and_tools() -> None:
    assert without_shape(ChatCompletionRequest.parse(HELLO)) is None
    assert without_shape(ChatCompletionRequest.parse({**HELLO, "guided_regex": "a"})) is None
    for fields in ({"guided_json": SCHEMA}, {"tools": [tool("a")], "tool_choice": "none"}):
        bare = without_shape(ChatCompletionRequest.parse({**HELLO, **fields}))
        assert bare is not None
        assert (bare.shape, bare.tool_use) == (FreeText(), None)


@pytest.mark.parametrize(
    ("fields", "bare", "param", "shown"),
    [
        ({}, None, "messages", ""),
        ({"guided_json": SCHEMA}, 20, "guided_json", ", 100 of them for the schema"),
        ({"guided_json": SCHEMA}, 60, "messages", ", 60 of them for the schema"),
        ({"guided_json": SCHEMA}, 120, "messages", ""),
        ({"tools": [tool("a")]}, 20, "tools", ", 100 of them for the tools"),
        (
            {"functions": [{"name": "a", "parameters": SCHEMA}]},
            *(20, "functions", ", 100 of them for the tools"),
        ),
        (
            {"guided_json": SCHEMA, "tools": [tool("a")]},
            *(20, "guided_json", ", 100 of them for the schema and the tools"),
        ),
    ],
)
def test_a_prompt_that_is_too_long(
    fields: dict[str, Any], bare: int | None, param: str, shown: str
) -> None:
    error = prompt_too_long(ChatCompletionRequest.parse({**HELLO, **fields}), 120, bare, 50)
    assert error.message == (
        f"the prompt takes 120 tokens{shown}; the context holds 50, the answer included"
    )
    assert (error.param, error.code) == (param, "context_length_exceeded")
