"""Structural tags and tools as grammars: what the machine adds to the rules."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_structural_tag
from maskwright.errors import (
    InputError,
    RegexError,
    SchemaError,
    StructuralTagError,
    UnsatisfiableGrammarError,
)
from tests.matching import EVERY_BYTE, matches


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


def test_a_grammar_may_name_its_dialect() -> None:
    """A comment after `//` is recognised as one of EBNF; GBNF has no such comments."""
    text = '// a comment\nroot ::= "a"'
    for syntax, accepted in (("ebnf", "a"), ("auto", "a")):
        format = {"type": "grammar", "grammar": text, "syntax": syntax}
        assert matches(compile_structural_tag(tag_of(format), EVERY_BYTE), accepted)
    with pytest.raises(StructuralTagError, match="a rule begins with name"):
        compile_structural_tag(
            tag_of({"type": "grammar", "grammar": text, "syntax": "gbnf"}), EVERY_BYTE
        )
    with pytest.raises(StructuralTagError, match="syntax must be one of auto, lark, gbnf, ebnf"):
        compile_structural_tag(
            tag_of({"type": "grammar", "grammar": text, "syntax": "peg"}), EVERY_BYTE
        )


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
    ({"type": "regex", "pattern": "("}, RegexError, "the pattern at /format/pattern: a group is"),
    ({"type": "grammar", "grammar": "root ::= ("}, StructuralTagError, "/format/grammar"),
    ({"type": "token", "token": "<|no|>"}, StructuralTagError, "/format/token"),
]


@pytest.mark.parametrize(("format", "error", "message"), FAULTS)
def test_faults_are_reported_with_their_place(
    format: Any, error: type[InputError], message: str
) -> None:
    with pytest.raises(error, match=message):
        compile_structural_tag(tag_of(format), EVERY_BYTE)


def test_a_grammar_without_a_text_is_refused_at_the_rule_as_it_is_written() -> None:
    grammar = {"type": "grammar", "grammar": 'start: x\nx: y "a"\ny: x "b"'}
    whole = {"type": "tag", "begin": "<", "content": grammar, "end": ">"}
    with pytest.raises(UnsatisfiableGrammarError) as refused:
        compile_structural_tag({"type": "structural_tag", "format": whole}, EVERY_BYTE)
    assert "it needs 'x', which needs 'y', which needs 'x' again" in str(refused.value)
    assert str(refused.value).endswith('(line 2, column 1)\n  x: y "a"\n  ^')


def test_a_tag_that_holds_nothing_is_refused() -> None:
    format = {"type": "json_schema", "json_schema": False}
    with pytest.raises(InputError):
        compile_structural_tag(tag_of(format), EVERY_BYTE)
