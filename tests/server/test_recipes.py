"""Which requests share a grammar: those that ask for the same texts, and no others."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from maskwright.server import ServerConfig
from maskwright.server.recipes import Recipe, Recipes
from maskwright.server.shapes import ShapeAndTools
from tests.matching import EVERY_BYTE, matches
from tests.server.scripted import Client, ScriptedEngine
from tests.server.test_tools import CALLS, NOW, TOOLS, WEATHER, says

RECIPES = Recipes("flexible", "hermes")


def recipe(body: dict[str, Any]) -> Recipe | None:
    """What a request with these fields is answered by."""
    asked = ShapeAndTools.read(body)
    stop = tuple(body.get("stop", ()))
    return RECIPES.of(asked.shape(), asked.tool_use(), stop)


def tool(**parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": parameters}}


def answer(schema: Any) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}


ONE = {"type": "function", "function": {"name": "now"}}
DIFFERENT: list[dict[str, Any]] = [
    answer({"type": "integer"}),
    answer({"type": "string"}),
    answer({"properties": {"a": {}, "b": {}}}),
    answer({"properties": {"b": {}, "a": {}}}),  # the order is that of the answer
    {"regex": "a"},
    {"regex": "b"},
    {"guided_choice": ["a", "b"]},
    {"guided_choice": ["b", "a"]},
    {"guided_choice": ["a, b"]},
    {"grammar": "a"},
    {"response_format": {"type": "grammar", "grammar": "a", "syntax": "lark"}},
    {"response_format": {"type": "grammar", "grammar": "a", "syntax": "gbnf"}},
    {"structural_tag": {"format": {"type": "any_text"}}},
    {"tools": TOOLS},
    {"tools": [WEATHER]},
    {"tools": TOOLS, "tool_choice": "required"},
    {"tools": TOOLS, "tool_choice": ONE},
    {"tools": TOOLS, "parallel_tool_calls": False},
    {"tools": TOOLS, "parallel_tool_calls": False, "tool_choice": "required"},
    {"tools": TOOLS, "stop": ["x"]},
    {"tools": TOOLS, "stop": ["x", "y"]},
    {"tools": TOOLS, "stop": ["xy"]},
    {"tools": TOOLS, "stop": ["x"], "parallel_tool_calls": False},
    {"tools": TOOLS, **answer({"type": "integer"})},
    {"tools": TOOLS, **answer({"type": "string"})},
    {"tools": TOOLS, "regex": "a"},
    {"tools": TOOLS, "guided_choice": ["a"]},
    {"tools": TOOLS, "grammar": "a"},
    {"tools": [tool(type="object")]},
    {"tools": [tool(type="object", required=["a"])]},
]

ALIKE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (answer({"type": "integer"}), {"guided_json": {"type": "integer"}}),
    (answer({"type": "integer"}), {"structured_outputs": {"json": {"type": "integer"}}}),
    ({"regex": "a"}, {"guided_regex": "a"}),
    ({"tools": TOOLS}, {"tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": True}),
    # A forced call is the whole answer, whatever its shape:
    (
        {"tools": TOOLS, "tool_choice": "required"},
        {"tools": TOOLS, "tool_choice": "required", **answer({"type": "integer"})},
    ),
    ({"tools": TOOLS, "tool_choice": "none", "regex": "a"}, {"regex": "a", "stop": ["x"]}),
]


def test_what_differs_has_keys_that_differ() -> None:
    keys = [made.key for body in DIFFERENT if (made := recipe(body)) is not None]
    assert len(keys) == len(DIFFERENT)
    for (one, first), (other, second) in itertools.combinations(enumerate(keys), 2):
        assert first != second, (DIFFERENT[one], DIFFERENT[other])


def test_closed_and_open_objects_are_two_grammars() -> None:
    opened = Recipes("flexible", "hermes", "allow")
    for body in (answer({"properties": {}}), {"tools": TOOLS}, {"structural_tag": CONST}):
        asked = ShapeAndTools.read(body)
        one = RECIPES.of(asked.shape(), asked.tool_use())
        other = opened.of(asked.shape(), asked.tool_use())
        assert one is not None
        assert one != other


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_is_alike_is_compiled_once(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = recipe(one), recipe(other)
    assert first is not None
    assert first == second


@pytest.mark.parametrize("body", [{}, {"stop": ["x"]}, {"tools": TOOLS, "tool_choice": "none"}])
def test_free_text_has_no_grammar(body: dict[str, Any]) -> None:
    assert recipe(body) is None


CONST = {"format": {"type": "const_string", "value": "word"}}
CALL = CALLS["hermes"].removeprefix("Let me see.\n")
ONE_CALL = CALL.partition("\n<tool_call>\n" + '{"name": "now"')[0]

MADE: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"tools": TOOLS}, ["words", CALL, ONE_CALL, "words" + CALL], ["<tool_call>"]),
    ({"tools": TOOLS, "parallel_tool_calls": False}, ["words", ONE_CALL], [CALL]),
    ({"tools": TOOLS, "tool_choice": "required"}, [CALL, ONE_CALL], ["words"]),
    ({"tools": TOOLS, "tool_choice": ONE}, [CALL[CALL.rindex("<tool_call>") :]], [ONE_CALL]),
    ({"tools": [NOW]}, ["words"], [ONE_CALL]),
    ({"tools": TOOLS, "stop": ["Bern"]}, ["in Bern", "words", CALL], ["in Bern, words"]),
    ({"tools": TOOLS, **answer({"type": "integer"})}, ["12", CALL], ["words"]),
    ({"tools": TOOLS, "regex": "[a-z]+"}, ["words", CALL], ["12"]),
    ({"tools": TOOLS, "guided_choice": ["yes"]}, ["yes", CALL], ["no"]),
    ({"tools": TOOLS, "grammar": 'start: "x" start | "y"'}, ["xy", CALL], ["x"]),
    ({"tools": TOOLS, "structural_tag": CONST}, ["word", CALL], ["words"]),
    ({"tools": TOOLS, "tool_choice": "required", "regex": "a"}, [CALL], ["a"]),
    (answer({"type": "integer"}), ["12"], ["1.5", "words"]),
    (answer({"properties": {"a": {}}, "type": "object"}), ['{"a":1}', "{}"], ['{"b":1}']),
    (answer({"type": "object"}), ['{"b":1}'], []),
    ({"guided_choice": ["yes", "no"]}, ["yes", "no"], ["ye", "yesno"]),
]


@pytest.mark.parametrize(("body", "accepted", "refused"), MADE)
def test_what_is_built(body: dict[str, Any], accepted: list[str], refused: list[str]) -> None:
    made = recipe(body)
    assert made is not None
    grammar = made.build(EVERY_BYTE)
    assert [text for text in accepted if not matches(grammar, text)] == []
    assert [text for text in refused if matches(grammar, text)] == []


# One server, one request after the other ----------------------------------------------------------


@pytest.mark.parametrize("before", [["late"], []])
def test_a_grammar_is_not_kept_without_its_stop_strings(
    client: Client, engine: ScriptedEngine, before: list[str]
) -> None:
    client.config = ServerConfig(tool_format="hermes")
    after = [] if before else ["late"]
    for stop in (before, after):
        says(engine, "It is late, I think.")
        if stop:  # the engine ends the text there
            says(engine, "It is late")
        [choice] = client.chat(tools=TOOLS, **({"stop": stop} if stop else {})).json()["choices"]
        expected = "It is " if stop else "It is late, I think."
        assert choice["message"]["content"] == expected


@pytest.mark.parametrize("parallel", [True, False])
def test_a_grammar_is_not_kept_for_another_number_of_calls(
    client: Client, engine: ScriptedEngine, parallel: bool
) -> None:
    client.config = ServerConfig(tool_format="hermes")
    for several in (parallel, not parallel):
        says(engine, CALL if several else ONE_CALL)
        [choice] = client.chat(tools=TOOLS, parallel_tool_calls=several).json()["choices"]
        assert len(choice["message"]["tool_calls"]) == (2 if several else 1)
        grammar = engine.requests[-1].grammar
        assert grammar is not None
        assert matches(grammar, CALL) == several


def test_objects_are_closed_unless_the_request_or_the_server_opens_them(
    client: Client, engine: ScriptedEngine
) -> None:
    shape = answer({"type": "object", "properties": {"a": {}}})

    def is_open(**fields: Any) -> bool:
        says(engine, "{}")
        assert client.chat(**shape, **fields).status_code == 200
        grammar = engine.requests[-1].grammar
        assert grammar is not None
        return matches(grammar, '{"b": 1}')

    assert not is_open()
    assert is_open(maskwright={"additional_properties": "allow"})
    client.config = ServerConfig(additional_properties="allow")
    assert is_open()
    assert not is_open(maskwright={"additional_properties": "forbid"})


def test_an_option_of_another_server_opens_and_closes_objects(
    client: Client, engine: ScriptedEngine
) -> None:
    schema = {"type": "object", "properties": {"a": {}}}

    def is_open(option: bool | None, **fields: Any) -> bool:
        outputs = {"json": schema, "disable_additional_properties": option}
        says(engine, "{}")
        assert client.chat(structured_outputs=outputs, **fields).status_code == 200
        grammar = engine.requests[-1].grammar
        assert grammar is not None
        return matches(grammar, '{"b": 1}')

    for setting, default in (("forbid", False), ("allow", True)):
        client.config = ServerConfig(additional_properties=setting)
        assert is_open(None) is default
        assert is_open(False)
        assert not is_open(True)
        assert not is_open(False, maskwright={"additional_properties": "forbid"})
        assert is_open(True, maskwright={"additional_properties": "allow"})


def test_numbers_are_plain_unless_the_request_or_the_server_says_otherwise(
    client: Client, engine: ScriptedEngine
) -> None:
    shape = answer({"type": "object", "properties": {"a": {"type": "number"}}})

    def takes_exponents(**fields: Any) -> bool:
        says(engine, '{"a": 1}')
        assert client.chat(**shape, **fields).status_code == 200
        grammar = engine.requests[-1].grammar
        assert grammar is not None
        assert matches(grammar, '{"a": 1.5}')
        return matches(grammar, '{"a": 1e5}')

    assert not takes_exponents()
    assert takes_exponents(maskwright={"numbers": "any"})
    client.config = ServerConfig(numbers="any")
    assert takes_exponents()
    assert not takes_exponents(maskwright={"numbers": "plain"})
