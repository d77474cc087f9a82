"""Structural tags and tools as grammars: what the machine adds to the rules."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from maskwright import compile_structural_tag, compile_tools
from maskwright.errors import (
    InputError,
    RegexError,
    SchemaError,
    StructuralTagError,
    UnsatisfiableGrammarError,
)
from tests.grammar.tools.test_tools import NOW, WEATHER
from tests.matching import EVERY_BYTE, after, matches


def tag_of(format: Any) -> Any:
    return {"type": "structural_tag", "format": format}


GRAMMAR = {"type": "grammar", "grammar": 'root ::= "a" root "b" | "ab"'}
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def test_parts_of_every_kind_in_one_tag() -> None:
    format = {
        "type": "triggered_tags",
        "triggers": ["<"],
        "tags": [
            {"begin": "<g>", "content": GRAMMAR, "end": "</g>"},
            {"begin": "<r>", "content": {"type": "regex", "pattern": "[xy]+"}, "end": "</r>"},
            {
                "begin": "<j>",
                "content": {"type": "json_schema", "json_schema": OBJECT},
                "end": "</j>",
            },
            {
                "begin": "<q>",
                "content": {"type": "qwen_xml_parameter", "json_schema": OBJECT},
                "end": "</q>",
            },
        ],
    }
    grammar = compile_structural_tag(tag_of(format), EVERY_BYTE)
    for text in (
        "",
        "é\n",
        "<g>aabb</g> and <r>xyx</r>",
        '<j>{"a": 1}</j>',
        "<q><parameter=a>\n12\n</parameter>\n</q>",
    ):
        assert matches(grammar, text), text
    for text in ("<g>aab</g>", "<r></r>", '<j>{"a": "1"}</j>', "<x>", "<q></q>"):
        assert not matches(grammar, text), text
    assert any(entry.pointer.startswith("/format/tags/2/") for entry in grammar.report.enforced)


def test_two_grammars_keep_their_rules_apart() -> None:
    other = {"type": "grammar", "grammar": 'root ::= "c"'}
    grammar = compile_structural_tag(
        tag_of({"type": "sequence", "elements": [GRAMMAR, other]}), EVERY_BYTE
    )
    assert matches(grammar, "aabbc")
    assert not matches(grammar, "cc")


def test_options_reach_the_json_within() -> None:
    format = {"type": "json_schema", "json_schema": {"properties": {"a": {}, "b": {}}}}
    text = '{"b":1,"a":2}'
    assert not matches(compile_structural_tag(tag_of(format), EVERY_BYTE), text)
    options: Any = {"property_order": "any", "whitespace": "compact"}
    grammar = compile_structural_tag(tag_of(format), EVERY_BYTE, **options)
    assert matches(grammar, text)
    assert not matches(grammar, '{"b": 1}')


def test_a_value_has_options_of_its_own() -> None:
    schema = {"properties": {"a": {}, "b": {}}}
    format = {"type": "json_schema", "json_schema": schema, "any_order": True}
    grammar = compile_structural_tag(tag_of(format), EVERY_BYTE)
    assert matches(grammar, '{"b": 1,"a":2}')
    format = {"type": "json_schema", "json_schema": schema, "max_whitespace_cnt": 0}
    grammar = compile_structural_tag(tag_of(format), EVERY_BYTE)
    assert matches(grammar, '{"a":1}')
    assert not matches(grammar, '{"a": 1}')


STYLES = [
    ("qwen_xml", "<parameter=a>\n1\n</parameter>\n"),
    ("minimax_xml", '<parameter name="a">1</parameter>\n'),
    ("glm_xml", "<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n"),
]


@pytest.mark.parametrize(("style", "text"), STYLES)
def test_styles_of_parameters(style: str, text: str) -> None:
    format = {"type": "json_schema", "json_schema": OBJECT, "style": style}
    grammar = compile_structural_tag(tag_of(format), EVERY_BYTE)
    assert matches(grammar, text)
    assert not matches(grammar, text.replace("1", "x"))
    assert not matches(grammar, '{"a": 1}')


FAULTS: list[tuple[Any, type[InputError], str]] = [
    ({"type": "json_schema", "json_schema": {"type": 5}}, SchemaError, "/format/json_schema/type"),
    ({"type": "regex", "pattern": "("}, RegexError, "position"),
    ({"type": "grammar", "grammar": "root ::= ("}, StructuralTagError, "/format/grammar"),
    ({"type": "token", "token": "<|no|>"}, StructuralTagError, "/format/token"),
]


@pytest.mark.parametrize(("format", "error", "told"), FAULTS)
def test_faults_are_told_with_their_place(format: Any, error: type[InputError], told: str) -> None:
    with pytest.raises(error, match=told):
        compile_structural_tag(tag_of(format), EVERY_BYTE)


def test_a_tag_that_holds_nothing_is_refused() -> None:
    format = {"type": "json_schema", "json_schema": False}
    with pytest.raises(InputError):
        compile_structural_tag(tag_of(format), EVERY_BYTE)


def test_a_bad_tool_is_named() -> None:
    bad = {"type": "function", "function": {"name": "bad", "parameters": {"type": "objekt"}}}
    with pytest.raises(SchemaError, match="tool 'bad'") as refused:
        compile_tools([WEATHER, bad], "auto", EVERY_BYTE)
    assert refused.value.param == "tools[1].function.parameters"


def test_tools_finish_within_their_budget() -> None:
    grammar = compile_tools([WEATHER, NOW], "required", EVERY_BYTE)
    matcher = grammar.matcher()
    budget = grammar.min_tokens
    generator = np.random.default_rng(0)
    row = np.zeros(EVERY_BYTE.words, np.int32)
    for left in range(budget, 0, -1):
        if matcher.complete:
            break
        matcher.fill_mask(row, left)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[: EVERY_BYTE.size]
        assert matcher.accept(int(generator.choice(np.flatnonzero(bits))))
        if matcher.terminated:
            break
    assert matcher.accepting or matcher.terminated


def test_python_arguments_of_several_tools_and_again() -> None:
    def tool(name: str, kind: Any) -> Any:
        tree = {"type": "array", "items": {"anyOf": [kind, {"$ref": "#/$defs/tree"}]}}
        schema = {"$defs": {"tree": tree}, "properties": {"a": {"$ref": "#/$defs/tree"}}}
        return {"type": "function", "function": {"name": name, "parameters": schema}}

    tools = [tool("f", {"type": "boolean"}), tool("g", {"type": "string"})]
    for _ in range(2):
        grammar = compile_tools(tools, "auto", EVERY_BYTE, format="llama_pythonic")
        for text in ("[f(a=[True, [False]])]", "[g(a=['x', [\"y'\"]]), f()]", "[1] is", "[h(", ""):
            assert matches(grammar, text), text
        for text in ("[f(a=['x'])]", "[g(a=[True])]", "[f(a=[true])]", "[f(]", "[f()], "):
            assert not matches(grammar, text), text
    required = compile_tools(tools, "required", EVERY_BYTE, format="llama_pythonic")
    assert required.matcher().forced_tokens() == list(b"[")
    assert required.min_tokens == len("[f()]")


def many_tools(count: int) -> list[Any]:
    """Tools like those of an agent: several parameters, of every type."""
    return [
        {
            "type": "function",
            "function": {
                "name": f"{verb}_{noun}_{at}",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "minLength": 1},
                        "limit": {"type": "integer", "minimum": 1, "maximum": 100 + at},
                        "mode": {"enum": ["fast", "slow", f"m{at}"]},
                        "tags": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["id"],
                    "additionalProperties": False,
                },
            },
        }
        for at in range(count)
        for verb, noun in [(["get", "list", "set", "drop"][at % 4], ["user", "file"][at % 2])]
    ]


def test_two_hundred_tools() -> None:
    tools = many_tools(200)
    grammar = compile_tools(tools, "auto", EVERY_BYTE, whitespace="spaced")
    call = '<tool_call>\n{"name": "drop_file_7", "arguments": %s}\n</tool_call>'
    good = {"id": "x", "limit": 107, "mode": "m7"}
    assert matches(grammar, "Well. " + call % json.dumps(good))
    assert not matches(grammar, call % json.dumps({**good, "limit": 108}))
    assert not matches(grammar, call % json.dumps({**good, "mode": "m8"}))


def test_a_tool_whose_arguments_cant_be_is_never_called() -> None:
    """`false` is a schema that no value satisfies, not an absent field."""
    impossible: dict[str, Any] = {"name": "never", "parameters": False}
    grammar = compile_tools([impossible, NOW], "required", EVERY_BYTE, format="json")
    assert matches(grammar, '{"name": "now", "arguments": {}}')
    assert after(grammar, '{"name": "ne') is None
    with pytest.raises(UnsatisfiableGrammarError):
        compile_tools([impossible], "required", EVERY_BYTE, format="json")
