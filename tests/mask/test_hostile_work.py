"""Schemas whose working out explodes: answered, or refused by a named limit, and soon.

The limits are counts. The calls that an answer takes are looked at as well, generously: they show
work that no limit counts.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import LimitError, TooLongError, UnsatisfiableSchemaError
from maskwright.limits import Limits, Work, spend
from tests.bounds import counted_calls
from tests.matching import EVERY_BYTE, matches

MOST_CALLS = 5_000_000
"""Most take a fraction of it, "a chain of references" half; a few seconds."""
FEW_STEPS = Limits(work=60_000)
"""A fraction of the default, which takes some seconds."""
_TEXT = b'"a0{[:,}]1'

Json = dict[str, Any]


def references(depth: int, width: int, *, required: bool = True) -> Json:
    """Objects in objects, each by references to the next."""
    names = [f"c{at}" for at in range(width)]
    levels: Json = {
        f"n{at}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/n{at + 1}"} for name in names},
            "required": names if required else [],
        }
        for at in range(depth)
    }
    return {"$ref": "#/$defs/n0", "$defs": {**levels, f"n{depth}": {"type": "integer"}}}


def combined(keyword: str, depth: int) -> Json:
    """The same schema twice, of the same schema twice, and so on."""
    levels: Json = {
        f"n{at}": {keyword: [{"$ref": f"#/$defs/n{at + 1}"}] * 2} for at in range(depth)
    }
    last = {"type": "integer", "minimum": 3}
    return {"$ref": "#/$defs/n0", "$defs": {**levels, f"n{depth}": last}}


def nested(keyword: str, depth: int) -> Json:
    schema: Json = {"type": "object"}
    for at in range(depth):
        other = {"properties": {f"k{at}": {"type": "string"}}, "required": [f"k{at}"]}
        schema = {keyword: [schema, other]}
    return schema


def arrays(least: int, depth: int) -> Json:
    """Arrays in arrays, each with a least count: the shortest text has `least**depth` values."""
    schema: Json = {"type": "null"}
    for _ in range(depth):
        schema = {"type": "array", "minItems": least, "items": schema}
    return schema


def patterns(keyword: str, names: str = "a") -> Json:
    """Ten alternatives that differ in a pattern alone, of the properties with these names."""
    return {
        keyword: [
            {
                "properties": {
                    name: {"type": "string", "pattern": f"{c}+x.*{at}"} for name in names
                },
                "required": ["a"],
            }
            for at, c in enumerate("abcdefghij")
        ]
    }


def text(pattern: str) -> Json:
    return {"type": "string", "pattern": pattern}


def no_text(pattern: str) -> Json:
    return {"type": "string", "not": {"pattern": pattern}}


def addresses(count: int) -> Json:
    """Exactly one of some countries, each with its states; nothing is required."""
    return {
        "oneOf": [
            {
                "properties": {
                    "state": {"type": "string", "enum": [f"S{at}", f"S{at + 1}"]},
                    "code": {"type": "string", "maxLength": 5 + at},
                    "country": {"type": "string", "enum": [f"C{at}"]},
                }
            }
            for at in range(count)
        ]
    }


ANSWERED: dict[str, Json] = {
    "{1,100000}, not": no_text("^a{1,100000}$"),
    "one of ten countries": addresses(10),
    "exactly one of ten patterns": patterns("oneOf"),
    "dependencies": {
        "properties": {f"p{at}": {"type": "integer"} for at in range(16)},
        "dependentRequired": {f"p{at}": [f"p{at + 1}", f"p{at ^ 1}"] for at in range(14)},
    },
    "a web of dependent schemas": {
        "dependentSchemas": {
            f"p{at}": {
                "required": [f"p{(at + 1) % 20}"],
                "properties": {f"p{(at * 7 + 3) % 20}": {"type": "integer"}},
            }
            for at in range(20)
        }
    },
    "a chain of nothing but references": {
        "$ref": "#/$defs/n0",
        "$defs": {f"n{at}": {"$ref": f"#/$defs/n{min(at + 1, 5_000)}"} for at in range(5_000)}
        | {"n5000": {}},
    },
    "a tree of references": references(20, 2),
    "a tree of optional references": references(60, 2, required=False),
    "conjunctions of conjunctions": combined("allOf", 40),
    "unions of unions": combined("anyOf", 40),
    "unions in unions": nested("anyOf", 40),
    "one of ten patterns, all": patterns("allOf"),
    "one of ten patterns, any": patterns("anyOf"),
    "a?{600}": text("^(a?){600}$"),
    "a? 600 times": text("^" + "a?" * 600 + "a" * 600 + "$"),
    "ambiguous": text("^(a|aa)*b$"),
    "ambiguous, not": no_text("^(a|aa)*b$"),
    "(.*a){20}": text("^(.*a){20}$"),
    "(.*a){400}, not": no_text("^(.*a){400}$"),
    "counted repeats": text("^((((a{0,30}b){0,30}c){0,30}d){0,30}e){0,30}$"),
    "{1,1000} of {1,1000}": text("^((a|b){1,1000}c?){1,1000}$"),
    "lookaheads": text("^" + "".join(f"(?=.*{c})" for c in "abcdefghijklmnop") + ".*$"),
    "negative lookaheads, not": no_text(
        "^" + "".join(f"(?!.*{c}.{{12}}x)" for c in "abcdefgh") + ".*$"
    ),
    "many words": text("^(" + "|".join(f"w{at}x" for at in range(2_500)) + ")*$"),
    "a large set of characters": text(r"^\p{L}{1,5000}$"),
    "a long array": {"type": "array", "minItems": 10**9},
    "overlapping names": {
        "patternProperties": {
            f"^.{{0,{at}}}[a-{chr(98 + at)}]*$": {"multipleOf": at + 1} for at in range(8)
        },
        "propertyNames": {"pattern": "^[a-f]{2,40}$"},
    },
    "{1,1000} of {1,1000}, not": no_text("^((a|b){1,1000}c?){1,1000}$"),
    "a web of required names": {
        "dependentRequired": {
            f"p{at}": [f"p{(at * 3 + 1) % 40}", f"p{(at * 5 + 2) % 40}"] for at in range(40)
        }
    },
    "unevaluated beside alternatives": {
        "anyOf": [{"properties": {f"p{at}": {"type": "integer"}}} for at in range(10)],
        "unevaluatedProperties": False,
    },
}
BILLION: Json = {"type": "string", "minLength": 10**9, "pattern": "^[ab]*$"}

REFUSED: dict[str, tuple[str, Json]] = {
    "a tree of references, exponential": ("work", references(60, 2)),
    "a chain of references": ("work", references(3_000, 1)),
    "exact unions in exact unions": ("work", nested("oneOf", 40)),
    "exactly one of ten patterns of two members": ("alternatives", patterns("oneOf", "ab")),
    "overlapping names": (
        "work",
        {
            "patternProperties": {
                f"^.*{c}.*$": {"minimum": at} for at, c in enumerate("abcdefghijkl")
            }
        },
    ),
    "overlapping names, and no others": (
        "work",
        {
            "patternProperties": {
                f"{chr(97 + at % 26)}.{{{at}}}": {"minLength": at} for at in range(30)
            },
            "additionalProperties": False,
        },
    ),
    "coprime lengths": (
        "work",
        {
            "type": "string",
            "allOf": [{"pattern": f"^(?:a{{{n}}})*$"} for n in (7, 11, 13, 17, 19, 23, 29)],
            "minLength": 1,
        },
    ),
    "many objects": ("witness_search", {"type": "object", "minProperties": 10**6}),
    "two arrays of arrays of arrays": (
        "work",
        {"type": "array", "uniqueItems": True, "minItems": 2, "items": arrays(400, 3)},
    ),
    "arrays of arrays of arrays among others": (
        "work",
        {
            "type": "array",
            "allOf": [
                {"contains": arrays(3000, 3)},
                {"contains": {"type": "array"}, "maxContains": 1},
            ],
        },
    ),
    "names that run out": (
        "work",
        {
            "type": "object",
            "minProperties": 50,
            "propertyNames": {"pattern": "^[ab]{1,6}$"},
        },
    ),
    "a web of choices": (
        "alternatives",
        {
            "dependentSchemas": {
                f"p{at}": {
                    "anyOf": [
                        {
                            "required": [f"p{(at + step) % 20}"],
                            "properties": {f"p{(at * 7 + 3) % 20}": {"type": kind}},
                        }
                        for step, kind in ((1, "integer"), (3, "number"))
                    ]
                }
                for at in range(20)
            }
        },
    ),
    "conditions": (
        "alternatives",
        {
            "allOf": [
                {
                    "if": {"properties": {f"p{at}": {"const": at}}},
                    "then": {"required": [f"q{at}"]},
                    "else": {"properties": {f"r{at}": False}},
                }
                for at in range(30)
            ]
        },
    ),
}
"""Each with the limit that stops it."""


def walk(schema: Json) -> str | None:
    """Read some text under a schema; the limit that stops it, if one does."""
    try:
        grammar = compile_json_schema(schema, EVERY_BYTE, property_order="any", limits=FEW_STEPS)
        matcher = grammar.matcher()
        for at in range(30):
            allowed = matcher.next_bytes()
            if not allowed:
                break
            liked = [byte for byte in _TEXT if byte in allowed] or list(allowed)
            opening = at == 0 and ord("{") in allowed
            assert matcher.accept(ord("{") if opening else liked[7 * at % len(liked)])
    except LimitError as error:
        return error.limit
    return None


@pytest.mark.parametrize("schema", ANSWERED.values(), ids=ANSWERED)
def test_answered(schema: Json) -> None:
    with counted_calls() as calls:
        assert walk(schema) is None
    assert calls.count < MOST_CALLS


@pytest.mark.parametrize(("limit", "schema"), REFUSED.values(), ids=REFUSED)
def test_refused_soon(limit: str, schema: Json) -> None:
    with counted_calls() as calls:
        assert walk(schema) == limit
    assert calls.count < MOST_CALLS


def test_exact_unions_of_one_schema_twice_have_no_value() -> None:
    with counted_calls() as calls, pytest.raises(UnsatisfiableSchemaError):
        walk(combined("oneOf", 40))
    assert calls.count < 100_000


def test_a_billion_letters_are_too_many_for_a_budget_at_once() -> None:
    """Masks without a budget count nothing; the end of the text is found too far by its look."""
    with counted_calls() as calls:
        assert walk(BILLION) is None
        matcher = compile_json_schema(BILLION, EVERY_BYTE, limits=FEW_STEPS).matcher()
        assert matcher.accept_bytes(b'"ab') == 3
        with pytest.raises(TooLongError, match="characters"):
            _ = matcher.min_tokens
    assert calls.count < MOST_CALLS


def test_a_large_multiple_is_near() -> None:
    """A search for it looks at each remainder at each length."""
    least = 10**37 + 1
    schema = {"type": "number", "multipleOf": 2187, "minimum": least}
    nearest = -(-least // 2187) * 2187
    with counted_calls() as calls:
        grammar = compile_json_schema(schema, EVERY_BYTE, numbers="plain", limits=FEW_STEPS)
        assert grammar.min_tokens == len(str(nearest))
    assert calls.count < MOST_CALLS / 100


@pytest.mark.parametrize("divisor", [2477e6, 2477e16, 2.477e-6, 12.384, 7e-300])
@pytest.mark.parametrize(
    "more",
    [
        {"exclusiveMinimum": 0},
        {"minimum": 1, "maximum": 1e22},
        {"exclusiveMaximum": -5e20},
        {"minimum": 1.5e98},
    ],
    ids=str,
)
def test_a_multiple_with_an_exponent_is_near(divisor: float, more: Json) -> None:
    """A search for it looks at each remainder at each length, with and without an exponent."""
    schema = {"type": "number", "multipleOf": divisor, **more}
    with counted_calls() as calls:
        grammar = compile_json_schema(schema, EVERY_BYTE, numbers="any", limits=FEW_STEPS)
        assert grammar.min_tokens < 40
    assert calls.count < MOST_CALLS / 50


def test_what_is_no_multiple_of_the_double_is_near() -> None:
    schema = {"multipleOf": 2477e6, "not": {"multipleOf": 4954e6}, "type": "number"}
    with counted_calls() as calls:
        grammar = compile_json_schema(schema, EVERY_BYTE, numbers="any", limits=FEW_STEPS)
        assert grammar.min_tokens == len("2477000000")
    assert calls.count < MOST_CALLS / 50


@pytest.mark.parametrize("numbers", ["plain", "any"])
def test_distinct_multiples_are_near(numbers: Any) -> None:
    """Few prefixes of up to three digits are multiples, and all of them lead to some."""
    items = {"type": "integer", "multipleOf": 997}
    schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": 3}
    with counted_calls() as calls:
        grammar = compile_json_schema(schema, EVERY_BYTE, numbers=numbers, limits=FEW_STEPS)
        assert grammar.min_tokens == len("[0,997,-997]")
    assert calls.count < MOST_CALLS / 5


def test_the_limit_counts_the_work() -> None:
    schema = nested("oneOf", 40)
    with pytest.raises(LimitError, match="1,000 steps") as raised:
        compile_json_schema(schema, EVERY_BYTE, limits=Limits(work=1_000)).matcher().next_bytes()
    assert raised.value.limit == "work"


def test_each_question_starts_afresh() -> None:
    work = Work(Limits(work=10))
    for _ in range(3):
        work.begin()
        with work:
            spend(10)
    with pytest.raises(LimitError), work:
        spend()
    spend(1_000)  # outside of any question


def all_words(letters: str, length: int) -> tuple[Json, list[str]]:
    """All of many words in `length` characters, said as none of those without one of them; and the
    words."""
    words = [f"{a}{b}1" for a in letters for b in "xyz"]
    without = [no_text(word) for word in words]
    return {"allOf": [text(f"^.{{{length}}}$"), {"not": {"anyOf": without}}]}, words


def test_nested_negations_of_patterns_are_intersections() -> None:
    schema, words = all_words("ab", 20)
    grammar = compile_json_schema(schema, EVERY_BYTE, limits=FEW_STEPS)
    whole = "".join(words).ljust(20, "-")
    assert matches(grammar, f'"{whole}"')
    assert matches(grammar, '"--' + "".join(reversed(words)) + '"')
    assert not matches(grammar, f'"{whole[:-1]}"')
    for word in words:
        assert not matches(grammar, '"' + whole.replace(word, "---") + '"')


def test_that_a_text_holds_many_words_is_found_out_with_few_steps() -> None:
    """Of twelve words: what a union of 4,096 cases would be."""
    schema, words = all_words("abcd", 40)
    grammar = compile_json_schema(schema, EVERY_BYTE, limits=FEW_STEPS)
    assert matches(grammar, '"' + "".join(words).ljust(40, "-") + '"')


@pytest.mark.parametrize("order", ["schema", "any"])
def test_exactly_one_of_twenty_typed_members_takes_few_steps(order: Any) -> None:
    """Each option forbids the others' members of their type: read as twenty requirements of some
    member, each met or not, they were a million ways to go on."""
    options = [
        {"properties": {f"n{at}": {"type": "string"}}, "required": [f"n{at}"]} for at in range(20)
    ]
    schema = {"type": "object", "oneOf": options}
    grammar = compile_json_schema(schema, EVERY_BYTE, property_order=order, limits=FEW_STEPS)
    assert matches(grammar, '{"n3": "a", "n5": 1, "x": "b"}')
    assert not matches(grammar, '{"n3": "a", "n5": "b"}')
    assert not matches(grammar, '{"n3": 1, "n5": 1}')
    assert not matches(grammar, '{"x": "b"}')


def test_lengths_within_lengths_are_decided() -> None:
    """Whether a string of some length is left was asked while the answer to it was being found."""
    options: list[Json] = [
        text("^[^b]{1,10}$"),
        {"pattern": "^a", "maxLength": 9},
        {"pattern": "^.{10}$", "not": {"pattern": "^(ab)*$"}},
    ]
    schema = {"type": "string", "pattern": "^[^c]{2,11}$", "minLength": 2, "oneOf": options}
    grammar = compile_json_schema(schema, EVERY_BYTE)
    texts = ["".join(each) for size in range(5) for each in product("abc", repeat=size)]
    texts += [one * size for one in ("a", "b", "d", "ab") for size in range(4, 13)]
    for each in texts:
        holds = [
            bool(re.search("^[^b]{1,10}$", each)),
            each.startswith("a") and len(each) <= 9,
            len(each) == 10 and not re.search("^(ab)*$", each),
        ]
        expected = sum(holds) == 1 and bool(re.search("^[^c]{2,11}$", each))
        assert matches(grammar, f'"{each}"') is expected, each


def test_a_huge_enumeration_of_numbers_is_lists_of_words() -> None:
    """Each was a term of its own: 60,000 integers took six seconds and 400 MB."""
    with counted_calls() as calls:
        grammar = compile_json_schema({"enum": list(range(100_000, 160_000))}, EVERY_BYTE)
        assert grammar.matcher().accept_bytes(b"123456") == 6
        assert grammar.matcher().accept_bytes(b"1.23456e5") == 9
        assert grammar.matcher().accept_bytes(b"160000") == 1
    assert calls.count < 40 * 60_000
