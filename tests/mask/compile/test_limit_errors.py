"""Every error of a limit says which limit, what it allows, what exceeded it, and a way out; and
leaves the tables of the vocabulary usable, for the grammar itself and for others."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from dataclasses import fields
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pytest

from maskwright import (
    Grammar,
    Vocabulary,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
    compile_tools,
)
from maskwright.errors import WAYS_OUT, LimitError
from maskwright.limits import Limits
from maskwright.mask.shared.vocabulary_tables import forget_languages
from tests.matching import BYTES, matches

Json = dict[str, Any]
Build = Callable[[Limits, Vocabulary], Grammar]

DEEP: Json = {"properties": {"a": {"properties": {"b": {"items": {"type": "null"}}}}}}
PEOPLE: Json = {
    "properties": {
        "people": {
            "type": "array",
            "uniqueItems": True,
            "minItems": 30,
            "items": {"type": "array", "items": {"type": "boolean"}, "maxItems": 6},
        }
    }
}
OVERLAP: Json = {
    "properties": {
        "one": {
            "oneOf": [
                {"properties": {"x": {"pattern": f"{c}.{{{at}}}{c}"}}}
                for at, c in enumerate("abcdef")
            ]
        }
    }
}
COUNTED: Json = {
    "properties": {
        "list": {"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 90}
    }
}


def schema(document: Json) -> Build:
    return lambda limits, vocab: compile_json_schema(document, vocab, limits=limits)


def pattern(text: str) -> Build:
    return lambda limits, vocab: compile_regex(text, vocab, limits=limits)


def grammar(text: str) -> Build:
    return lambda limits, vocab: compile_grammar(text, vocab, limits=limits)


def tag(content: Json) -> Build:
    whole = {"type": "tag", "begin": "<", "content": content, "end": ">"}
    return lambda limits, vocab: compile_structural_tag(
        {"type": "structural_tag", "format": whole}, vocab, limits=limits
    )


def tool(parameters: Json) -> Build:
    one = {"type": "function", "function": {"name": "look", "parameters": parameters}}
    return lambda limits, vocab: compile_tools([one], "required", vocab, limits=limits)


UNEVEN: Json = {
    "properties": {
        "one": {
            "properties": {
                "x": {"oneOf": [{"pattern": f"^.*{c}.{{{at}}}$"} for at, c in enumerate("abcd", 5)]}
            }
        }
    }
}
UNIONS: Json = {
    "allOf": [
        {"anyOf": [{"minProperties": k}, {"properties": {f"p{k}": {"const": k}}}]} for k in range(9)
    ]
}


class Case(NamedTuple):
    limit: str
    value: float
    build: Build
    construct: str
    """What the error names."""
    text: bytes = b""
    """The text within which the limit is met; empty: at compile time, or with the first mask."""
    is_fixed: bool = False
    """Whether the value can't be changed."""


NESTED = "start: a\na: " + " | ".join(f'"x{n}" a "y{n}"' for n in range(30)) + ' | "z"'
AMBIGUOUS = 'start: a\na: a a | "x" | b\nb: "x" a | a "x"'

CASES = {
    "values": Case("schema_nodes", 5, schema(DEEP), "the schema at the root"),
    "levels": Case("schema_depth", 3, schema(DEEP), "the schema at /properties/a/properties/b"),
    "groups": Case("schema_depth", 4, pattern("(((((a)))))"), "the pattern '(((((a)))))'"),
    "groups of a grammar": Case(
        "schema_depth", 2, grammar("start: b\nb: (((A)))\nA: /x/"), "line 2, column 7"
    ),
    "a pattern": Case("pattern_length", 9, pattern("abcdefghij"), "the pattern 'abcdefghij'"),
    "a property's pattern": Case(
        "pattern_length",
        5,
        schema({"properties": {"a/b": {"pattern": "abcdefghij"}}}),
        "the schema at /properties/a~1b/pattern",
    ),
    "a tag's pattern": Case(
        "pattern_length",
        5,
        tag({"type": "json_schema", "json_schema": {"pattern": "abcdefghij"}}),
        "the schema at /format/content/json_schema/pattern",
    ),
    "terms": Case("pattern_terms", 3, pattern("abcd"), "the pattern 'abcd'"),
    "lookbehinds": Case(
        "lookbehind_states",
        3,
        schema({"items": {"pattern": "(?<=a..)b"}}),
        "the schema at /items/pattern",
    ),
    "characters": Case("grammar_length", 9, grammar('start: "abcdef"'), "the grammar"),
    "rules": Case(
        "grammar_rules",
        2,
        grammar('start: b c\nb: "b" b | "b"\nc: "c" c | "c"'),
        "the rule 'start'",
    ),
    "nodes": Case("grammar_nodes", 20, grammar(NESTED), "the rule 'a'"),
    "ways to go on": Case("items", 10, grammar(NESTED), "the rule 'start'"),
    "ways to read": Case("items", 12, grammar(AMBIGUOUS), "the rules 'a', 'b'", b"xx"),
    "alternatives": Case(
        "alternatives",
        40,
        schema({"properties": {"a": UNIONS}}),
        "the schema at /properties/a/allOf/8/anyOf",
    ),
    "contains": Case(
        "alternatives",
        6,
        schema({"properties": {"a": {"allOf": [{"contains": {"const": k}} for k in range(9)]}}}),
        "the schema at /properties/a/allOf/8/contains",
        is_fixed=True,
    ),
    "remainders": Case(
        "divisor",
        10,
        schema({"properties": {"a": {"multipleOf": 17}}}),
        "the schema at /properties/a/multipleOf",
    ),
    "a tool's divisor": Case(
        "divisor",
        10,
        tool({"properties": {"a": {"multipleOf": 17}}}),
        "tool 'look': multiples of 17 need 17 states, in the schema at /properties/a/multipleOf",
    ),
    "a shortest string": Case(
        "witness_search", 20, pattern("(?=(a{7})+$)(a{9})+"), "the pattern '(?=(a{7})+$)(a{9})+'"
    ),
    "steps of compiling": Case("work", 30, schema(OVERLAP), "the schema at the root"),
    "steps of a mask": Case(
        "work",
        3_000,
        schema(UNEVEN),
        "the schema at /properties/one/properties/x",
        b'{"one":{"x":"a',
    ),
    "steps of a pattern": Case(
        "work", 12, pattern("[ab]*a[ab]{30}c"), "the pattern '[ab]*a[ab]{30}c'"
    ),
    "steps of a tool": Case(
        "work",
        3_000,
        tool(UNEVEN),
        "the schema at /properties/one/properties/x",
        b'<tool_call>\n{"name": "look", "arguments": {"one":{"x":"a',
    ),
    "leaf states": Case(
        "leaf_states",
        120,
        schema({"properties": {"a": {"pattern": "^[a-f]*a[a-f]{20}$"}}}),
        "the schema at /properties/a",
        b'{"a":"' + b"abacadaeaf" * 2,
    ),
    "leaf states of a pattern": Case(
        "leaf_states",
        25,
        pattern("[ab]*a[ab]{15}"),
        "the pattern '[ab]*a[ab]{15}'",
        b"aababbaabababb",
    ),
    "contexts": Case(
        "contexts",
        12,
        schema(COUNTED),
        "the schema at /properties/list/items",
        b'{"list":[1,2,3,4,5,6',
    ),
    "contexts of a grammar": Case(
        "contexts",
        4,
        grammar('start: "(" b ")"\nb: "[" c "]"\nc: "x" | "{" b "}"'),
        "the rule 'b'",
        b"([{[{[x]}]}])",
    ),
    "seconds": Case("seconds", 1e-9, schema(OVERLAP), "the schema at the root"),
    "bytes": Case("bytes", 1, schema(OVERLAP), "the schema at the root"),
}


@pytest.fixture
def vocab(monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    """A vocabulary for which nothing is known yet: what is known isn't counted. Each look at the
    memory of the process finds a page more."""
    pages = count()
    monkeypatch.setattr("maskwright.limits.resident_bytes", lambda: 4096 * next(pages))
    forget_languages()
    return Vocabulary((*BYTES, b""), eos=256)


def met(case: Case, vocab: Vocabulary) -> LimitError:
    """The error of a case, which is met within its text, and not before."""
    options: dict[str, Any] = {} if case.is_fixed else {case.limit: case.value}
    row = np.zeros(vocab.words, np.int32)
    read = -1
    if case.limit == "work":
        gc.collect()  # languages that errors of other tests keep alive have been worked out
    try:
        matcher = case.build(Limits(**options), vocab).matcher()
        matcher.fill_mask(row)
        for byte in case.text:
            read += 1
            assert matcher.accept_bytes(bytes([byte]))
            matcher.fill_mask(row)
    except LimitError as error:
        assert (read >= 0) == bool(case.text)
        return error
    pytest.fail("no limit was met")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_error_says_all_and_leaves_the_tables_usable(case: Case, vocab: Vocabulary) -> None:
    error = met(case, vocab)
    assert (error.limit, error.value) == (case.limit, case.value)
    assert error.construct is not None
    assert error.way_out
    assert error.message == str(error)
    said = f"{case.construct} (limit {case.limit!r} of {case.value:,}): {error.way_out}"
    assert str(error).endswith(said)
    assert matches(compile_regex("a[bc]*", vocab), "abcb")
    assert not matches(compile_json_schema({"type": "integer"}, vocab), "1.5")
    if case.is_fixed:
        return
    matcher = case.build(Limits(), vocab).matcher()
    row = np.zeros(vocab.words, np.int32)
    for byte in case.text:
        matcher.fill_mask(row)
        assert row[byte >> 5] >> (byte & 31) & 1
        assert matcher.accept(byte)


def test_every_limit_has_a_case_and_a_way_out() -> None:
    limits = {each.name for each in fields(Limits)}
    assert {case.limit for case in CASES.values()} == limits
    assert WAYS_OUT.keys() == limits


def test_an_error_is_sent_whole_to_another_process(vocab: Vocabulary) -> None:
    error = met(CASES["leaf states"], vocab)
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), vars(sent)) == (str(error), vars(error))
    assert sent.pointer == "/properties/a"


def failing(schema: Json, text: bytes, states: int, vocab: Vocabulary) -> LimitError:
    """The error of a schema with few leaf states."""
    matcher = compile_json_schema(schema, vocab, limits=Limits(leaf_states=states)).matcher()
    try:
        for byte in text:
            assert matcher.accept(byte)
    except LimitError as error:
        return error
    pytest.fail("no limit was met")


GROWING: Json = {"pattern": "^[a-f]*a[a-f]{20}$"}
LETTERS = b"abacadaeaf" * 3


def test_the_place_is_in_the_own_document_where_contexts_are_shared(vocab: Vocabulary) -> None:
    hard = {"properties": {"x": GROWING}}
    compile_json_schema({"properties": {"first": hard}}, vocab).matcher().accept_bytes(
        b'{"first":{"x"'
    )
    error = failing({"properties": {"second": hard}}, b'{"second":{"x":"' + LETTERS, 60, vocab)
    assert error.pointer == "/properties/second/properties/x"


def test_references_lead_to_the_place_of_the_schema(vocab: Vocabulary) -> None:
    node = {"properties": {"next": {"items": {"$ref": "#/$defs/node"}}, "name": GROWING}}
    tree = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    error = failing(tree, b'{"next":[{},{"name":"' + LETTERS, 190, vocab)
    assert error.pointer == "/$defs/node/properties/name"
