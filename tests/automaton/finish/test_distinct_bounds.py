"""Bounds on values that must be distinct: never too low, and found without long searches."""

from __future__ import annotations

import json
from itertools import product
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from maskwright import Grammar, compile_json_schema
from maskwright.automaton.finish.distinct_bounds import UNKNOWN, DistinctCostBounds
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.errors import LimitError
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import DEFAULT_LIMITS
from tests.bounds import counted_calls
from tests.matching import EVERY_BYTE, allowed, matches, vocabulary

VOCABULARY = vocabulary('{"a":', '":', ',"b":', '"', "},{", "1,", "]", "}]", '"}', "ab", ',"', "[[")


def closed(required: int = 9, /, **properties: Any) -> dict[str, Any]:
    names = list(properties)[:required]
    return {
        "type": "object", "properties": properties, "required": names,
        "additionalProperties": False,
    }  # fmt: skip


TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
STEEP = {"enum": [1, 22, "x" * 9, "y" * 19, "z" * 29, "z" * 39, "z" * 49]}
"""Values. Each costs much more than the one before."""
FEW, SHORT = {"enum": ["a", "b", "ab"]}, {"type": "string", "maxLength": 3}
MOST_CALLS = 10_000_000
"""Of compiling, or of a token; the one that is refused takes half of it, the others far less."""
ITEMS: dict[str, tuple[Any, int]] = {
    "strings": (TEXT, 3),
    "short strings": (SHORT, 2),
    "few strings": (FEW, 3),
    "steep": (STEEP, 4),
    "arrays of steep": ({"type": "array", "items": STEEP, "minItems": 1}, 3),
    "numbers": (NUMBER, 2),
    "text first": (closed(a=TEXT, b=FLAG), 2),
    "text last": (closed(a=FLAG, b=TEXT), 3),
    "short text": (closed(a=SHORT, b=FLAG), 2),
    "few of both": (closed(a=FEW, b=FLAG), 5),
    "all of both": (closed(a=FEW, b=FLAG), 6),
    "some optional": (closed(1, a=FLAG, b=TEXT), 3),
    "free names": ({"type": "object", "properties": {"a": FLAG}, "required": ["a"]}, 3),
    "any names": ({"type": "object"}, 2),
    "arrays": ({"type": "array", "items": FEW, "minItems": 1}, 4),
    "unique arrays": ({"type": "array", "items": NUMBER, "uniqueItems": True, "minItems": 2}, 3),
    "arrays within": (closed(a={"type": "array", "items": FLAG}, b=FEW), 3),
    "objects within": (closed(a=closed(a=FEW, b=FLAG)), 3),
    "of two kinds": ({"anyOf": [closed(a=FEW), NUMBER]}, 3),
    "anything": (True, 2),
}


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("name", ITEMS)
def test_bounds_leave_room(name: str, order: Any) -> None:
    item, least = ITEMS[name]
    schema = {"type": "array", "uniqueItems": True, "items": item, "minItems": least}
    random = Random(name + order)
    grammar = compile_json_schema(schema, VOCABULARY, property_order=order, whitespace="spaced")
    for spare in (0, 8, 20):
        matcher = grammar.matcher()
        left = grammar.min_tokens + spare
        for _ in range(24):
            tokens = sorted(allowed(matcher, left) - set(VOCABULARY.eos))
            if not tokens:
                break
            here, text = matcher._path[-1].configuration, bytes(matcher._read())
            left -= 1
            for token in random.sample(tokens, min(3, len(tokens))):
                data = VOCABULARY.spellings[token]
                behind = grammar.recognizer.advance(here, data, text)
                assert behind is not None
                assert grammar.budgets.costs.tokens_needed(behind, text + data) <= left, text + data
            assert matcher.accept(random.choice(tokens))


# One value


def bounds(order: Any = "schema") -> DistinctCostBounds:
    return DistinctCostBounds(Solver(order, DEFAULT_LIMITS), WHITESPACE["compact"])


def conjunction(schema: Any) -> Conjunction:
    return frozenset([parse_schema(schema, ParseOptions()).root])


ATOMS: list[Any] = [None, False, True, 0, 1, 22, "", "a", "bb", "ccc"]
NAMES = ["", "a", "b", "ab"]
UNIVERSE: list[Any] = [
    *ATOMS,
    *(list(items) for count in range(3) for items in product(ATOMS, repeat=count)),
    *({name: value} for name in NAMES for value in ATOMS),
    *({"a": one, "b": two} for one in ATOMS for two in ATOMS),
    {},
]
A_FEW = {"enum": ["a", "bb", "ccc", 22]}
VALUES: dict[str, tuple[Any, int]] = {
    # schema, and the most others for which there is a bound
    "listed": (A_FEW, 3),
    "flags": (FLAG, 1),
    "one or two members": (closed(1, a=FLAG, b=A_FEW), 3),
    "two members": (closed(a=FLAG, b=A_FEW), 7),
    "a free name": ({"type": "object"}, 9),
    "a free name beside": ({"type": "object", "properties": {"a": FLAG}, "required": ["a"]}, 9),
    "an array of one": ({"type": "array", "items": A_FEW, "minItems": 1, "maxItems": 1}, 3),
    "an array of two": ({"type": "array", "items": A_FEW, "minItems": 2}, 9),
    "an empty array and longer ones": ({"type": "array", "items": A_FEW}, 3),
    "distinct items": (
        {"type": "array", "items": {"enum": ATOMS[:8]}, "uniqueItems": True, "minItems": 2}, 4
    ),
    "of two kinds": ({"anyOf": [A_FEW, closed(a=FLAG)]}, 3),
}  # fmt: skip


ENDLESS = {"a free name", "a free name beside", "an array of two", "distinct items"}
"""Those with a bound for more others than are tried here."""


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("name", VALUES)
def test_a_bound_is_never_below_what_a_distinct_value_takes(name: str, order: Any) -> None:
    """Of n + 1 values that cost the least, at least one is distinct from n others, but not of n."""
    schema, most = VALUES[name]
    grammar = compile_json_schema(schema, EVERY_BYTE, property_order=order, whitespace="compact")
    texts = {json.dumps(value, separators=(",", ":")) for value in UNIVERSE}
    sizes = sorted(len(text) for text in texts if matches(grammar, text))
    found = bounds(order)
    for others in range(most + 1):
        bound = found.value(conjunction(schema), others)
        assert sizes[others] <= bound < UNKNOWN, others
    is_last = name not in ENDLESS
    assert (found.value(conjunction(schema), most + 1) == UNKNOWN) is is_last


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "array", "items": {"type": "array", "contains": {"const": 1}}, "minItems": 1},
        {"type": "object", "minProperties": 3},
        {"$defs": {"t": closed(1, a={"$ref": "#/$defs/t"})}, "$ref": "#/$defs/t"},
    ],
    ids=str,
)
def test_what_only_a_search_can_tell_has_no_bound(schema: Any) -> None:
    assert bounds().value(conjunction(schema), 2) == UNKNOWN


# The rest of a container


def remembering(least: int, index: int, *seen: Any) -> ArrayProgress:
    """An array of steep items; `index` of them are read, the last one just now."""
    schema = {"type": "array", "uniqueItems": True, "minItems": least, "items": STEEP}
    [start] = Solver("schema", DEFAULT_LIMITS).values.containers(conjunction(schema))
    assert isinstance(start, ArrayProgress)
    return replace(start, index=index, seen=frozenset(json.dumps(value) for value in seen))


@pytest.mark.parametrize(
    ("progress", "costs"),
    [
        # What has been read takes the cheapest values, also the item that isn't remembered yet
        (remembering(2, 1), [2]),
        (remembering(3, 2, 1), [11]),
        (remembering(4, 3, 1, 22), [21]),
        (remembering(4, 2, 1), [11, 21]),
        (remembering(3, 3, 1, 22), []),
    ],
)
def test_items_to_come_differ_from_the_one_being_read(
    progress: ArrayProgress, costs: list[int]
) -> None:
    bound = bounds().closing(progress, 0)
    assert bound >= sum(1 + cost for cost in costs) + 1
    assert bound <= sum(1 + max(costs) for _ in costs) + 1


@pytest.mark.parametrize(
    ("schema", "distinguished", "expected"),
    [
        ({"type": "integer"}, False, 0),
        (TEXT, False, 18),
        ({"enum": ["ab", "abcd"]}, False, 12 + 6),
        (SHORT, False, 0),
        (SHORT, True, 12 * 4),
        ({"type": "string", "pattern": "^a"}, False, 0),
        ({"type": "string", "pattern": "^a"}, True, UNKNOWN),
    ],
    ids=str,
)
def test_the_rest_of_a_string(schema: Any, distinguished: bool, expected: float) -> None:
    assert bounds().string_rest(conjunction(schema), distinguished=distinguished) == expected


# Budgets


@pytest.mark.parametrize(
    "name", ["strings", "short strings", "numbers", "text first", "short text", "unique arrays"]
)
def test_ample_budgets_need_no_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": ITEMS[name][0], "minItems": 3}
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    matcher = grammar.matcher()
    text = bytes(_shortest(grammar))
    monkeypatch.setattr(grammar.budgets, "_which_fit", None)
    for byte in text:
        assert byte in allowed(matcher, 500)
        assert matcher.accept(byte)
    assert matcher.complete


def _shortest(grammar: Grammar) -> list[int]:
    """The tokens, which are bytes, of a shortest text."""
    matcher, left, found = grammar.matcher(), grammar.min_tokens, list[int]()
    while not matcher.complete:
        token = min(allowed(matcher, left))
        assert matcher.accept(token)
        found.append(token)
        left -= 1
    return found


def nested(depth: int, least: int) -> Any:
    if not depth:
        return NUMBER
    items = nested(depth - 1, least)
    return {"type": "array", "uniqueItems": True, "minItems": least, "items": items}


@pytest.mark.parametrize(
    ("schema", "is_answered"),
    [
        ({**nested(1, 100), "items": closed(a=TEXT, b=TEXT)}, True),
        ({**nested(1, 5), "items": closed(**{f"f{at}": TEXT for at in range(300)})}, True),
        (nested(3, 6), True),
        (nested(3, 20), False),
    ],
    ids=["many objects", "many members", "nested", "nested deep"],
)
def test_tight_budgets_end_soon(schema: Any, is_answered: bool) -> None:
    worst = 0
    try:
        with counted_calls() as calls:
            grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
            left = grammar.min_tokens + 5
            matcher = grammar.matcher()
        for _ in range(15):
            worst = max(worst, calls.count)
            with counted_calls() as calls:
                assert matcher.accept(min(allowed(matcher, left)))
            left -= 1
    except LimitError:
        assert not is_answered
    else:
        assert is_answered
    assert max(worst, calls.count) < MOST_CALLS
