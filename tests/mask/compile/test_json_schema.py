"""The compilers' face: what is refused where, limits, the report, orders and whitespace."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from maskwright import Limits, Vocabulary, compile_json_schema, compile_regex
from maskwright.errors import (
    InputError,
    LimitError,
    RegexError,
    SchemaError,
    UnsatisfiableSchemaError,
)
from tests.matching import BYTES, EVERY_BYTE, matches

NOT_SCHEMAS: list[tuple[Any, str, str]] = [
    (1, "", "object or a boolean"),
    (None, "", "object or a boolean"),
    ([], "", "object or a boolean"),
    ("{", "", "not JSON"),
    ({"type": "text"}, "/type", "unknown type 'text'"),
    ({"type": 3}, "/type", "type"),
    ({"type": ["string", None]}, "/type", "type"),
    ({"enum": "a"}, "/enum", "array"),
    ({"minimum": "1"}, "/minimum", "number"),
    ({"maximum": True}, "/maximum", "number"),
    ({"minLength": -1}, "/minLength", "at least 0"),
    ({"maxLength": 1.5}, "/maxLength", "whole number"),
    ({"minItems": "2"}, "/minItems", "whole number"),
    ({"pattern": 1}, "/pattern", "string"),
    ({"required": "a"}, "/required", "array of strings"),
    ({"required": ["a", 1]}, "/required/1", "expected a string"),
    ({"properties": []}, "/properties", "object"),
    ({"anyOf": []}, "/anyOf", "non-empty"),
    ({"anyOf": {}}, "/anyOf", "array"),
    ({"allOf": [True, 2]}, "/allOf/1", "object or a boolean"),
    ({"properties": {"a/b": {"items": {"type": "x"}}}}, "/properties/a~1b/items/type", "'x'"),
    ({"properties": {"a": {"prefixItems": [{}, {"maxItems": -1}]}}},
     "/properties/a/prefixItems/1/maxItems", "at least 0"),
    ({"$ref": "#/$defs/x"}, "/$ref", "nowhere"),
    ({"$ref": 1}, "/$ref", "string"),
    ({"$defs": {"x": 5}, "$ref": "#/$defs/x"}, "/$defs/x", "object or a boolean"),
    ('{"const": [1, 1e999]}', "/const/1", "finite"),
    ('{"items": {"minimum": NaN}}', "/items/minimum", "finite"),
    ({"multipleOf": float("inf")}, "/multipleOf", "finite"),
    ({"enum": [(1, 2)]}, "/enum/0", "a tuple is not a value of JSON"),
    ({"properties": {1: {}}}, "/properties", "the name 1 is not a string"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "pointer", "reason"), NOT_SCHEMAS, ids=lambda v: repr(v)[:40])
def test_what_is_no_schema(schema: Any, pointer: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason) as raised:
        compile_json_schema(schema, EVERY_BYTE)
    assert raised.value.pointer == pointer
    assert raised.value.code == "invalid_json_schema"
    assert (pointer or "the root") in str(raised.value)


@pytest.mark.parametrize(
    ("schema", "pointer", "reason"),
    [
        ({"pattern": r"(a)\1"}, "/pattern", "back-references"),
        ({"items": {"pattern": "(?<=a$)b"}}, "/items/pattern", "lookbehind"),
        ({"pattern": "("}, "/pattern", "not closed"),
    ],
)
def test_patterns_in_schemas_are_refused_by_place(schema: Any, pointer: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason) as raised:
        compile_json_schema(schema, EVERY_BYTE)
    assert raised.value.pointer == pointer


def test_references_out_of_the_document_are_refused() -> None:
    with pytest.raises(
        SchemaError, match=r"https://example.org/s.json.*nothing is fetched"
    ) as raised:
        compile_json_schema({"items": {"$ref": "https://example.org/s.json"}}, EVERY_BYTE)
    assert raised.value.pointer == "/items/$ref"


def test_references_in_a_circle_are_refused() -> None:
    x, y = {"$ref": "#/$defs/y"}, {"$ref": "#/$defs/x", "type": "null"}
    with pytest.raises(SchemaError, match="without end") as raised:
        compile_json_schema({"$defs": {"x": x, "y": y}, "$ref": "#/$defs/x"}, EVERY_BYTE)
    assert raised.value.pointer == "/$defs/x"


UNSATISFIABLE: list[Any] = [
    False,
    {"not": {}},
    {"type": "string", "minLength": 2, "maxLength": 1},
    {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
    {"type": "string", "enum": [1, None]},
    {"const": "b", "pattern": "^a"},
    {"allOf": [{"type": "string"}, {"type": "number"}]},
    {"type": "array", "items": False, "minItems": 1},
    {"type": "object", "properties": {"a": False}, "required": ["a"]},
    {"type": "object", "required": ["a"], "additionalProperties": False},
    {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
    {"type": "string", "pattern": "^a$", "minLength": 2},
]


@pytest.mark.parametrize("schema", UNSATISFIABLE, ids=lambda v: repr(v)[:60])
def test_what_no_value_satisfies(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchemaError, match="no JSON value"):
        compile_json_schema(schema, EVERY_BYTE)


@pytest.mark.parametrize("option", ["property_order", "whitespace"])
def test_unknown_options(option: str) -> None:
    with pytest.raises(InputError, match=option) as raised:
        compile_json_schema({}, EVERY_BYTE, **{option: "random"})
    assert raised.value.param == option


@pytest.mark.parametrize("pattern", ["a(?!)", "a^b", "(?=a)b", "[]"])
def test_patterns_that_match_nothing(pattern: str) -> None:
    with pytest.raises(RegexError, match="matches no text"):
        compile_regex(pattern, EVERY_BYTE)


def test_json_text_and_booleans_are_schemas() -> None:
    assert matches(compile_json_schema('{"const": null}', EVERY_BYTE), "null")
    assert matches(compile_json_schema(True, EVERY_BYTE), '{"a":[1]}')


# Limits


def nested(depth: int, schema: Any = True) -> Any:
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def product_of_unions(count: int, **keywords: Any) -> Any:
    """Of each of so many unions, the two options require a name each; `keywords` stand beside."""
    options = [
        [{"type": "object", "required": [f"{at}{letter}"], **keywords} for letter in "xy"]
        for at in range(count)
    ]
    return {"type": "object", "allOf": [{"anyOf": each} for each in options]}


BOMBS: list[tuple[str, Any, Limits]] = [
    ("schema_depth", nested(60), Limits(schema_depth=20)),
    ("schema_depth", nested(5_000), Limits()),
    ("schema_nodes", {"enum": list(range(2_000))}, Limits(schema_nodes=1_000)),
    ("pattern_length", {"pattern": "a" * 200}, Limits(pattern_length=100)),
    ("pattern_terms", {"pattern": "ab" * 50}, Limits(pattern_terms=50)),
    ("alternatives", product_of_unions(16, minProperties=1), Limits()),
]


@pytest.mark.parametrize(("limit", "schema", "limits"), BOMBS, ids=[b[0] for b in BOMBS])
def test_bombs_meet_the_limit_that_is_named(limit: str, schema: Any, limits: Limits) -> None:
    with pytest.raises(LimitError, match=limit) as raised:
        compile_json_schema(schema, EVERY_BYTE, limits=limits)
    assert raised.value.limit == limit


def test_json_text_nested_too_deep() -> None:
    with pytest.raises(LimitError, match="schema_depth"):
        compile_json_schema('{"items":' * 100_000 + "{}" + "}" * 100_000, EVERY_BYTE)


def test_names_that_many_unions_require_are_no_bomb() -> None:
    grammar = compile_json_schema(product_of_unions(16), EVERY_BYTE, property_order="any")
    for letters in ("x" * 16, "y" * 16, "xy" * 8):
        names = [f"{at}{letter}" for at, letter in enumerate(letters)]
        assert matches(grammar, json.dumps(dict.fromkeys(names, 1)))
        assert not matches(grammar, json.dumps(dict.fromkeys(names[1:], 1)))


def test_a_large_enum_is_no_bomb() -> None:
    values = [f"value number {at}" for at in range(20_000)]
    grammar = compile_json_schema({"enum": values}, EVERY_BYTE)
    assert matches(grammar, '"value number 19999"')
    assert not matches(grammar, '"value number 20000"')


def test_a_large_repeat_is_no_bomb() -> None:
    grammar = compile_regex("[ab]{1,100000}", EVERY_BYTE)
    assert matches(grammar, "ab" * 20)
    bounded = compile_json_schema({"type": "string", "maxLength": 10**9}, EVERY_BYTE)
    assert matches(bounded, '"many"')


def test_limits_are_positive() -> None:
    with pytest.raises(ValueError, match="schema_depth"):
        Limits(schema_depth=0)


# The report


def test_the_report_names_every_keyword() -> None:
    schema = {
        "title": "T",
        "type": "object",
        "properties": {"a/b": {"type": "string", "maxLength": 3, "description": "d", "x-mine": 1}},
        "required": ["a/b"],
        "anyOf": [{"required": []}, True],
    }
    report = compile_json_schema(schema, EVERY_BYTE).report
    enforced = {(entry.pointer, entry.keyword) for entry in report.enforced}
    annotations = {(entry.pointer, entry.keyword) for entry in report.annotations}
    inner = "/properties/a~1b"
    assert enforced >= {
        *(("", keyword) for keyword in ("type", "properties", "required", "anyOf")),
        *((inner, keyword) for keyword in ("type", "maxLength")),
        ("/anyOf/0", "required"),
    }
    assert annotations == {("", "title"), (inner, "description"), (inner, "x-mine")}
    assert "enforced    /properties/a~1b/maxLength" in str(report)


def test_the_report_of_a_pattern() -> None:
    report = compile_regex("a", EVERY_BYTE).report
    assert [entry.keyword for entry in report.enforced] == ["pattern"]


# Whitespace and order

VALUE = {"a": [1, {"b": []}], "c": {}}
SPELLINGS = {
    "compact": json.dumps(VALUE, separators=(",", ":")),
    "spaced": json.dumps(VALUE),
    "pretty": json.dumps(VALUE, indent=2),
}


@pytest.mark.parametrize("whitespace", [*SPELLINGS, "flexible"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_whitespace(whitespace: str, spelling: str) -> None:
    for schema in ({}, {"enum": [VALUE]}):
        grammar = compile_json_schema(schema, EVERY_BYTE, whitespace=whitespace)
        expected = whitespace in ("flexible", spelling)
        assert matches(grammar, SPELLINGS[spelling]) is expected


def test_flexible_whitespace_is_any_but_bounded() -> None:
    grammar = compile_json_schema({}, EVERY_BYTE)
    assert matches(grammar, '{ "a"\t:\r\n[ 1 , 2\n]  }')
    assert matches(grammar, "[ ]")
    assert matches(grammar, "[" + " " * 20 + "1]")
    assert not matches(grammar, "[" + " " * 10_000 + "1]")
    assert not matches(grammar, "[\u00a01]")
    assert not matches(grammar, "[1 2]")


ORDERED: dict[str, Any] = {
    "type": "object",
    "properties": {"b": {}, "a": {}, "c": {}},
    "required": ["a"],
}


@pytest.mark.parametrize(
    ("names", "in_order"),
    [
        ("a", True), ("ba", True), ("bac", True), ("ac", True), ("bacx", True), ("axy", True),
        ("ab", False), ("ca", False), ("xa", False), ("axc", False),
    ],
)  # fmt: skip
def test_orders(names: str, in_order: bool) -> None:
    text = "{" + ",".join(f'"{name}":1' for name in names) + "}"
    assert matches(compile_json_schema(ORDERED, EVERY_BYTE, property_order="any"), text)
    assert matches(compile_json_schema(ORDERED, EVERY_BYTE), text) is in_order


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("names", ["", "b", "bc", "aa", "baba", "bb"])
def test_names_missing_or_twice(order: str, names: str) -> None:
    text = "{" + ",".join(f'"{name}":1' for name in names) + "}"
    assert not matches(compile_json_schema(ORDERED, EVERY_BYTE, property_order=order), text)


@pytest.mark.parametrize(
    ("integers", "accepted", "rejected"),
    [
        ("any", ["7", "-7", "7.0", "7e0"], ["7.5", "07"]),
        ("digits", ["7", "-7", "0"], ["7.0", "7e0", "7.5"]),
    ],
)
def test_spelling_of_integers(
    integers: Literal["any", "digits"], accepted: list[str], rejected: list[str]
) -> None:
    grammar = compile_json_schema({"type": "integer"}, EVERY_BYTE, integers=integers)
    assert [text for text in (*accepted, *rejected) if matches(grammar, text)] == accepted


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"),
    [
        ({"const": 1}, ["1"], ["1.0", "1e0", "1.0000"]),
        ({"const": 2.0}, ["2", "2.0"], ["2.00", "2e0"]),
        ({"enum": [1, 2.5, "a", 1e300]}, ["1", "2.5", '"a"', "1e+300"], ["1.0", "2.50", "1e300"]),
        ({"const": {"a": [1]}}, ['{"a":[1]}'], ['{"a":[1.0]}']),
        ({"enum": [[1], {"a": 2}]}, ["[1]", '{"a":2}'], ["[1.0]", '{"a":2.0}']),
        ({"type": "integer", "const": 1.0}, ["1"], ["1.0"]),
        ({"type": "number", "enum": [1, 2], "minimum": 2}, ["2"], ["1", "2.0"]),
        ({"not": {"const": 1}}, ["2.0", '"a"'], ["1", "1.0", "1e0"]),
        # What satisfies a schema doesn't depend on the spelling of a number: 1.0 is an integer.
        ({"not": {"type": "integer"}}, ["1.5", '"a"'], ["1", "1.0", "1e2"]),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]},
            ["-1", "1.5"],
            ["1", "1.0", "-1.5"],
        ),
        (
            {"if": {"type": "integer"}, "then": {"const": 3}, "else": {"type": "number"}},
            ["3", "1.5"],
            ["1", "1.0"],
        ),
        (
            {"type": "array", "items": {"enum": [1, 1.0, 2]}, "uniqueItems": True},
            ["[1,2]", "[1.0,2]"],
            ["[1,1]", "[1,1.0]", "[1,2,2]"],
        ),
    ],
    ids=str,
)
def test_numbers_in_digits(schema: Any, accepted: list[str], rejected: list[str]) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, integers="digits", whitespace="compact")
    assert [text for text in (*accepted, *rejected) if matches(grammar, text)] == accepted


def test_a_grammars_size_grows_with_what_is_known_of_it() -> None:
    vocab = Vocabulary((*BYTES, b""), eos=256)  # no other grammar knows anything of it
    grammar = compile_json_schema({"type": "object"}, vocab)
    before = grammar.size
    assert 1_000 < before < 1_000_000
    matches(grammar, '{"a": [1, {"b": "c"}]}')
    for token in list(b'{"a": ['):
        matcher = grammar.matcher()
        matcher.accept(token)
    assert grammar.size > before


def _tagged(count: int, union: str) -> Any:
    """A discriminated union as pydantic writes it."""
    kinds = {
        f"Kind{n}": {
            "type": "object",
            "properties": {"kind": {"const": f"k{n}"}, "size": {"type": "integer"}},
            "required": ["kind", "size"],
            "additionalProperties": False,
        }
        for n in range(count)
    }
    options = [{"$ref": f"#/$defs/{name}"} for name in kinds]
    return {"$defs": kinds, union: options, "discriminator": {"propertyName": "kind"}}


@pytest.mark.parametrize("inner", [False, True], ids=["root", "property"])
def test_a_discriminated_union_of_a_thousand_options(inner: bool) -> None:
    schema = _tagged(1_000, "oneOf")
    if inner:
        defs = schema.pop("$defs")
        schema = {"$defs": defs, "type": "array", "items": schema}
    grammar = compile_json_schema(schema, EVERY_BYTE)
    around = "[%s]" if inner else "%s"
    for text, expected in (
        ('{"kind":"k0","size":3}', True),
        ('{"kind":"k999","size":3}', True),
        ('{"kind":"k1000","size":3}', False),
        ('{"kind":"k0"}', False),
        ('{"size":3}', False),
    ):
        assert matches(grammar, around % text) is expected


def test_titled_constants_of_a_thousand_options() -> None:
    options = [{"const": f"c{n}", "title": f"Choice {n}"} for n in range(1_000)]
    grammar = compile_json_schema({"oneOf": options}, EVERY_BYTE)
    assert matches(grammar, '"c0"')
    assert matches(grammar, '"c999"')
    assert not matches(grammar, '"c1000"')
    twice = compile_json_schema({"oneOf": [*options, {"const": "c7"}]}, EVERY_BYTE)
    assert matches(twice, '"c8"')
    assert not matches(twice, '"c7"')


def test_options_that_are_told_apart_take_steps_in_proportion_to_their_number() -> None:
    """As many as `anyOf` needs, up to a factor: of 2,000, no pair is compared."""

    def fits(union: str, count: int, steps: int) -> bool:
        try:
            compile_json_schema(_tagged(count, union), EVERY_BYTE, limits=Limits(work=steps))
        except LimitError:
            return False
        return True

    steps = next(n for n in range(2_000, 400_000, 2_000) if fits("anyOf", 2_000, n))
    assert fits("oneOf", 2_000, 3 * steps)


def test_a_property_between_bounds_that_lie_very_close_may_occur() -> None:
    value = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e-40}
    schema = {"type": "object", "properties": {"a": value}, "additionalProperties": False}
    for whole in (schema, {**schema, "required": ["a"]}):
        grammar = compile_json_schema(whole, EVERY_BYTE)
        assert matches(grammar, '{"a":5e-41}')
        assert not matches(grammar, '{"a":1e-40}')
        assert not matches(grammar, '{"a":0}')


def test_a_keyword_that_is_null_demands_nothing() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "enum": None}, "b": {"const": None}},
        "required": None,
        "additionalProperties": None,
    }
    grammar = compile_json_schema(schema, EVERY_BYTE)
    for text, expected in (("{}", True), ('{"a":1,"b":null,"c":2}', True), ('{"b":1}', False)):
        assert matches(grammar, text) is expected
    assert len(grammar.report.warnings) == 3


PLAIN: list[tuple[Any, list[str], list[str]]] = [
    # a schema, plain texts, and other spellings of values that it allows
    ({"type": "number"}, ["0", "1", "1.0", "12.50", "-0.5", "100"], ["1e2", "-0", "1.500", "1E2"]),
    ({"minimum": 3.14159, "maximum": 3.14159, "type": "number"}, ["3.14159"], ["3.141590"]),
    ({"type": "number", "multipleOf": 0.01}, ["6", "6.00", "0.06", "6.5"], ["6.000", "6.00E-02"]),
    ({"type": "number", "multipleOf": 0.5}, ["6", "6.0", "6.5"], ["6.00", "6.50", "6.5e0"]),
    ({"type": "number", "multipleOf": 3}, ["6", "-3"], ["6.0", "3e1"]),
    ({"type": "integer"}, ["7", "-7", "0"], ["7.0", "7e0", "-0"]),
    ({"type": "number", "minimum": 1e22}, ["1" + "0" * 22, "1" + "0" * 39], ["1e22", "1e+22"]),
    ({"enum": [1, 2.5, 1e22, [1.0]]}, ["1", "2.5", "1e+22", "[1.0]", "[1]"], ["1.0", "2.50"]),
    ({"const": 1.0}, ["1", "1.0"], ["1.00", "1e0"]),
    ({}, ["1.5", '[1.5,{"a":2}]'], ["1e5", "[1e5]", '{"a":1.500}']),
    ({"not": {"type": "integer"}}, ["1.5", '"a"'], ["1.500", "1.5000"]),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, ["1"], ["1.0"]),
    (
        {"type": "array", "items": {"type": "number"}, "uniqueItems": True},
        ["[1,1.5]", "[1.0,2]"],
        ["[1,1.5e0]"],
    ),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2, "type": "number"}]}, ["1", "2.5"], ["2.500"]),
    (
        {"type": "object", "properties": {"a": {"type": "number", "maximum": 1}}},
        ['{"a":1}', '{"a":0.25}'],
        ['{"a":2.5e-1}'],
    ),
]


@pytest.mark.parametrize(("schema", "plain", "others"), PLAIN, ids=str)
def test_numbers_in_plain_spelling(schema: Any, plain: list[str], others: list[str]) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, numbers="plain")
    any_spelling = compile_json_schema(schema, EVERY_BYTE)
    assert [text for text in plain if not matches(grammar, text)] == []
    assert [text for text in others if matches(grammar, text)] == []
    draft4 = isinstance(schema, dict) and "$schema" in schema
    assert [text for text in [*plain, *others] if not matches(any_spelling, text)] == (
        ["1.0"] if draft4 else []
    )


def test_plain_numbers_that_are_equal_repeat_an_item() -> None:
    schema = {"type": "array", "items": {"type": "number"}, "uniqueItems": True}
    grammar = compile_json_schema(schema, EVERY_BYTE, numbers="plain")
    assert not matches(grammar, "[1,1.0]")
    assert not matches(grammar, "[12.50,12.5]")
    assert matches(grammar, "[12.50,12.51]")


def test_plain_numbers_are_completed_within_a_budget() -> None:
    """The shortest plain spelling has the fewest tokens, and with them the text ends."""
    for schema, shortest in (
        ({"type": "number", "minimum": 3.14159, "maximum": 3.14159}, "3.14159"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 0.05}, "0.01"),
        ({"type": "number", "minimum": 1e40}, "1" + "0" * 40),
        ({"type": "number", "multipleOf": 0.25, "exclusiveMinimum": 9}, "10"),
    ):
        grammar = compile_json_schema(schema, EVERY_BYTE, numbers="plain")
        assert grammar.min_tokens == len(shortest)
        matcher = grammar.matcher()
        assert matcher.accept_bytes(shortest.encode()) == len(shortest)
        assert matcher.accepting


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("property_order", "schema, any"),
        ("whitespace", "compact, spaced, pretty, flexible"),
        ("draft", "4, 6, 7, 2019-09, 2020-12"),
        ("formats", "enforce, annotate"),
        ("integers", "any, digits"),
        ("numbers", "any, plain"),
        ("escapes", "any, needed"),
        ("additional_properties", "allow, forbid"),
    ],
)
@pytest.mark.parametrize("value", ["short", None, ["any"], {}], ids=str)
def test_an_option_is_one_of_some_words(option: str, words: str, value: Any) -> None:
    """Also something that has no hash is refused by name."""
    with pytest.raises(InputError, match=f"{option} is one of {words}") as raised:
        compile_json_schema({}, EVERY_BYTE, **{option: value})
    assert raised.value.param == option
