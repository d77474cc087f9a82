"""Random walks with a budget: whatever is chosen, the text ends in time, complete and valid."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from random import Random
from string import ascii_letters, digits
from typing import Any

import pytest

from benchmarks.vocabularies import tekken
from maskwright import Matcher, Vocabulary, compile_json_schema, compile_regex
from maskwright.errors import BudgetError, UnsatisfiableSchemaError
from maskwright.mask.shared import budget_cache
from tests.matching import EVERY_BYTE, allowed, vocabulary
from tests.properties.algebra_cases import ALGEBRA
from tests.properties.container_cases import CONTAINERS
from tests.properties.judge import has_lone_surrogate, validator
from tests.properties.schema_cases import CASES, CHARACTER_TOKENS, TOKENS, Case
from tests.properties.schemas import NAMES, schema
from tests.walks.samples import sampled

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "email": {"type": ["string", "null"], "pattern": "^[a-z]+@[a-z]+\\.(com|org)$"},
        "tags": {"type": "array", "items": {"enum": ["new", "old", "ünïcode"]}, "maxItems": 4},
        "scores": {"type": "array", "items": {"type": "number", "minimum": -1, "maximum": 1}},
        "boss": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    },
    "required": ["name", "age", "email", "tags", "boss"],
    "additionalProperties": False,
}
OPEN: dict[str, Any] = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
UNIQUE_OF_THREE: dict[str, Any] = {"type": "array", "minItems": 3, "uniqueItems": True}
WHITESPACE = ("compact", "spaced", "pretty", "flexible")


@cache
def demo() -> Vocabulary:
    """The vocabulary of the shipped model."""
    from maskwright.models import DEMO_PATH, load  # noqa: PLC0415  (torch, for this one only)

    return load(DEMO_PATH).vocab


def walk(matcher: Matcher, budget: int, random: Random) -> bytes:
    """A text made of tokens drawn uniformly, until it is complete and the draw says stop."""
    vocab = matcher.recognizer.vocabulary
    text = b""
    while True:
        mask = sorted(allowed(matcher, budget))
        token = random.choice(mask)
        assert matcher.accept(token), vocab.tokens[token]
        if matcher.terminated:
            return text
        text += vocab.tokens[token]
        budget -= 1
        if matcher.complete or (budget == 0 and matcher.accepting):
            return text
        assert budget > 0, f"{text!r} is cut off"


def check_walks(drawn: Any, vocab: Vocabulary, random: Random, walks: int, **options: str) -> None:
    grammar = compile_json_schema(drawn, vocab, **options)
    judge = validator(drawn)
    least = grammar.min_tokens
    for _ in range(walks):
        budget = least + random.choice([0, 0, 1, 2, 3, 5, 10, 40])
        text = walk(grammar.matcher(), budget, random)
        value = json.loads(text)
        assert judge.is_valid(value), (text, drawn)
        assert not has_lone_surrogate(value)

    def smaller_and_smaller() -> None:
        for budget in range(least - 1, -1, -1):  # a shorter text may exist; see test_least_tokens
            assert judge.is_valid(json.loads(walk(grammar.matcher(), budget, random)))

    with pytest.raises(BudgetError) as raised:
        smaller_and_smaller()
    assert raised.value.needed <= least


SMALL = vocabulary(*TOKENS, *CHARACTER_TOKENS)


SOUND = [pytest.param(case, id=case.name) for case in (*CASES, *ALGEBRA, *CONTAINERS)]


@pytest.mark.parametrize("case", sampled(SOUND, 130))
def test_walks(case: Case) -> None:
    random = Random(case.name)
    vocab = random.choice([EVERY_BYTE, SMALL])
    check_walks(case.schema, vocab, random, 3, property_order=case.order)


@cache
def some_values() -> tuple[Any, ...]:
    """Values of which every random schema that has any should have one: scalars, and containers of
    up to three, of which those within others are small."""
    scalars = [None, True, -3, -1, 0, 0.5, 1, 1.25, 1.5, 2, 3, "", "a", "ab", "b", "bb"]
    inner: list[Any] = [None, True, 1, 2, "a", "b", 1.5, -1]
    inner += [[], [1], ["a"], {}, {"a": 1}, {"b": 1, "c": 1}]
    arrays = [list(items) for size in range(3) for items in product(inner, repeat=size)]
    absent = object()
    drawn = product([absent, *inner], repeat=len(NAMES))
    objects = [
        {n: v for n, v in zip(NAMES, values, strict=True) if v is not absent} for values in drawn
    ]
    return (*scalars, *arrays, *objects)


@pytest.mark.parametrize("seed", range(30))
def test_walks_of_random_schemas(seed: int) -> None:
    random = Random(seed)
    drawn = schema(random)
    try:
        check_walks(drawn, SMALL, random, 3, whitespace=random.choice(WHITESPACE))
    except UnsatisfiableSchemaError:
        judge = validator(drawn)
        assert [value for value in some_values() if judge.is_valid(value)] == []


@pytest.mark.parametrize("vocab", [demo, tekken], ids=["demo", "tekken"])
@pytest.mark.parametrize("whitespace", ["compact", "flexible"])
@pytest.mark.parametrize("drawn", [PERSON, OPEN], ids=["person", "open"])
def test_walks_with_real_vocabularies(vocab: Any, whitespace: str, drawn: Any) -> None:
    check_walks(drawn, vocab(), Random(whitespace), 2, whitespace=whitespace)


@pytest.mark.parametrize("pattern", ["(ab|c)+d", "a{20}|b", "(?!.*aa)[ab]{3,}c", r"\d{4}-\d\d|é+"])
@pytest.mark.parametrize("vocab", [EVERY_BYTE, SMALL], ids=["bytes", "small"])
def test_walks_of_patterns(pattern: str, vocab: Vocabulary) -> None:
    grammar = compile_regex(pattern, vocab)
    random = Random(pattern)
    for extra in range(20):
        text = walk(grammar.matcher(), grammar.min_tokens + extra, random)
        last = grammar.matcher()
        assert last.accept_bytes(text) == len(text)
        assert last.accepting


NEEDED: list[dict[str, Any]] = [
    {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 4},
    {"type": "object", "additionalProperties": {"type": ["string", "array"]}, "minProperties": 5},
    {
        "type": "object",
        "properties": {"b": {"type": "string"}, "bb": {"type": "string"}},
        "required": ["bb"],
        "minProperties": 6,
    },
]
NAMING = vocabulary('","', '", "', 'b":"', 'b": "', 'c":"', 'c": "', '": "', '"],"', '"], "', "aaa")


@pytest.mark.parametrize("whitespace", sampled(["compact", "spaced"], 1))
@pytest.mark.parametrize("drawn", NEEDED, ids=["map", "lists", "listed"])
def test_walks_where_further_names_are_needed(drawn: Any, whitespace: str) -> None:
    """Texts of one grammar get what was counted for each other, as long as no name decides."""
    check_walks(drawn, NAMING, Random(whitespace), 12, whitespace=whitespace)


ENDING_TWO = vocabulary('"],"', ',"b":1', '"a":1', '","b","', '":1,"b":', "1,0,", "],[[", '"a","')
COUNTED: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "a": {"type": "object", "minProperties": 2},
            "b": {"items": {"type": "string"}, **UNIQUE_OF_THREE},
        },
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    {
        "type": "array",
        "items": {"items": {"type": "string"}, **UNIQUE_OF_THREE},
        "minItems": 2,
    },
    {
        "type": "array",
        "items": {"type": "object", "minProperties": 2},
        "minItems": 2,
        "uniqueItems": True,
    },
    {
        "type": "object",
        "properties": {
            "a": {"type": "array", "minItems": 3, "not": {"uniqueItems": True}},
            "b": {"type": "array", "minItems": 2, "items": {"type": "string"}},
        },
        "required": ["a", "b"],
    },
]


def check_bounds(drawn: Any, vocab: Vocabulary, random: Random, whitespace: str) -> None:
    """A walk without a budget, along which no more tokens are needed than bounds say."""
    grammar = compile_json_schema(drawn, vocab, whitespace=whitespace)
    matcher, walker = grammar.matcher(), grammar.budgets.costs.walker
    for _ in range(40):
        bound = walker.bound(matcher.position.configuration)
        assert matcher.min_tokens <= bound, matcher.state
        if matcher.complete:
            break
        assert matcher.accept(random.choice(sorted(allowed(matcher))))


@pytest.mark.parametrize("whitespace", sampled(["compact", "flexible"], 1))
@pytest.mark.parametrize("drawn", COUNTED, ids=["both", "lists", "objects", "repeated"])
def test_bounds_count_on_no_token_that_is_not_offered(drawn: Any, whitespace: str) -> None:
    """Tokens that end two names or items that must differ are offered nowhere, so what completes a
    text has to do without them, and its bounds have to as well."""
    for seed in range(4):
        check_bounds(drawn, ENDING_TWO, Random(f"{whitespace} {seed}"), whitespace)
    check_walks(drawn, ENDING_TWO, Random(whitespace), 2, whitespace=whitespace)


MEMBERS = [f'"{name}":0,' for name in ascii_letters + digits + " !#$%&'()*+-."]


@pytest.mark.parametrize("value", [{"const": 0}, {"enum": [0, "long enough"]}], ids=str)
def test_bounds_hold_while_short_names_run_out(value: Any) -> None:
    """Of names with one byte, and others with two, some are left when many have been used."""
    schema = {"type": "object", "minProperties": 70, "additionalProperties": value}
    grammar = compile_json_schema(schema, vocabulary(*MEMBERS, '","'), whitespace="compact")
    matcher, walker = grammar.matcher(), grammar.budgets.costs.walker
    spellings = grammar.vocabulary.spellings
    assert matcher.accept_bytes(b"{")
    for used, member in enumerate(MEMBERS[:69]):
        bound = walker.bound(matcher.position.configuration)
        assert 70 - used < matcher.min_tokens <= bound <= 7 * (71 - used) + 30
        assert matcher.accept(spellings.index(member.encode()))


@pytest.mark.parametrize("drawn", COUNTED[:3], ids=["both", "lists", "objects"])
def test_promises_are_kept_whose_reasons_are_forgotten(
    drawn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered for single texts is bounded, and gone where another process goes on."""
    monkeypatch.setattr(budget_cache, "MOST_TEXTS", 10)
    for seed in range(2):
        check_walks(drawn, ENDING_TWO, Random(seed), 3, whitespace="flexible")


CHEAPER = [
    ({"enum": ["a", "bcd"]}, '"bcd"'),
    ({"anyOf": [{"const": 12}, {"const": 345}]}, "345"),
    ({"type": "string", "minLength": 2}, '"ab"'),
]


@pytest.mark.parametrize(("drawn", "token"), CHEAPER, ids=["enum", "anyOf", "string"])
def test_least_tokens(drawn: Any, token: str) -> None:
    """A longer text may take fewer tokens; asked to fit, the grammar finds it and writes it."""
    grammar = compile_json_schema(drawn, vocabulary(token))
    assert grammar.min_tokens > 1
    assert grammar.least_tokens(enough=1) == 1
    assert walk(grammar.matcher(), 1, Random(0)) == token.encode()
