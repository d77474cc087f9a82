"""The ways out of leaves: where their texts lead, and which come first."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from maskwright import Grammar, compile_json_schema, compile_structural_tag
from maskwright.automaton.finish.leaf_exits import LeafExit, LeafExits
from maskwright.limits import DEFAULT_LIMITS
from tests.matching import EVERY_BYTE, configuration

OPEN = {"type": "object", "properties": {"ab": True, "abc": True}}
CLOSED = {**OPEN, "additionalProperties": False}


def ways_out(grammar: Grammar, text: bytes, most: int = 40) -> list[LeafExit]:
    machine = grammar.recognizer.machine
    here = configuration(grammar, text)
    context = int(machine.arrays.node_context[here.node])
    found = LeafExits(machine, DEFAULT_LIMITS).of(here.leaf, context)
    return list(islice((each for each in found if each.label is not None), most))


def json(schema: Any, whitespace: Any = "compact") -> Grammar:
    return compile_json_schema(schema, EVERY_BYTE, whitespace=whitespace, property_order="any")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (OPEN, b'{"'),
        (OPEN, b'{"a'),
        (OPEN, b'{"ab'),
        (OPEN, b'{"ab\\'),
        (OPEN, b'{"ab\\u00'),
        (OPEN, b'{"a\xc3'),
        (OPEN, b'{"xyz'),
        (OPEN, b'{"xyz\\'),
        (OPEN, b'{"xyz\\ud8'),
        (OPEN, b'{"xyz\xf0\x9f'),
        (OPEN, b'{"x":1,"'),
        (CLOSED, b'{"a'),
        (CLOSED, b'{"abc":1,"'),
        ({"type": "string"}, b'"x'),
        ({"type": "string"}, b'"\\u'),
        ({"type": "string", "pattern": "^a{3}$"}, b'"a'),
        ({"type": "number"}, b"-"),
    ],
)
def test_each_text_leads_to_its_label(schema: Any, text: bytes) -> None:
    grammar = json(schema)
    leaves = grammar.recognizer.machine.leaves
    found = ways_out(grammar, text)
    assert found
    for each in found:
        leaf = configuration(grammar, text).leaf
        for byte in each.text:
            leaf = leaves.next_states(leaf)[byte]
        assert leaves.label_of(leaf) == each.label, each.text


@pytest.mark.parametrize(
    ("schema", "text", "texts"),
    [
        (OPEN, b'{"a', [b'b"', b'bc"', b'"']),  # the names that it can become, then another one
        (OPEN, b'{"ab', [b'"', b'c"', b'a"']),  # which must be none of these
        (OPEN, b'{"xyz', [b'"']),
        (OPEN, b'{"xyz\\ud83d', [b'\\uDC00"']),
        (CLOSED, b'{"a', [b'b"', b'bc"']),
        (CLOSED, b'{"abc":1,"', [b'ab"']),  # the other one has come
    ],
)
def test_names_are_completed_without_a_search(schema: Any, text: bytes, texts: list[bytes]) -> None:
    assert [each.text for each in ways_out(json(schema), text)] == texts


@pytest.mark.parametrize(
    ("text", "length"),
    [(b'"x\\', 2), (b'"x\\u', 5), (b'"x\xc3', 2), (b'"x\xf0\x9f', 3)],
)
def test_the_nearest_way_out_of_a_character_is_reported_first_and_ends_the_search(
    text: bytes, length: int
) -> None:
    grammar = json({"type": "string", "maxLength": 60, "pattern": "^[^a]*$"})
    machine = grammar.recognizer.machine
    here = configuration(grammar, text)
    found = LeafExits(machine, DEFAULT_LIMITS).of(
        here.leaf, int(machine.arrays.node_context[here.node])
    )
    nearest, rest = next(found), next(found)
    assert nearest.label is not None
    assert len(nearest.text) == length
    assert (rest.label, rest.is_far) == (None, True)
    matcher = grammar.matcher()
    assert matcher.accept_bytes(text + nearest.text)
    assert matcher.accepting


def test_whitespace_is_passed_over() -> None:
    found = ways_out(json(OPEN, whitespace="flexible"), b'{"ab"')
    assert [each.text for each in found] == [b":"]


AWKWARD = "^([a-cé-ü漢\n]{2}x?|😀{3}|[\U00010000-\U0001ffff]w|\\\\{4}q|[^\\x00-\\u07ff][a-z]{5})$"
WITHIN = [
    *(b'"\\', b'"\\u', b'"\\u0', b'"\\u00E', b'"\\ud', b'"\\ud83', b'"\\uD83d', b'"\\ud83d\\'),
    *(b'"\\ud83d\\u', b'"\\ud83d\\uDe', b'"\\uD800\\uDC0', b'"\xc3', b'"\xe6\xbc', b'"\xf0\x9f'),
    *(b'"a\\', b'"a\\u', b'"a\xc3', b'"\\u6f22\\u6', b'"\\u6f22\xe6', b'"\xf0\x9f\x98\x80\\ud83'),
]


def shortest_way_out(grammar: Grammar, text: bytes) -> int:
    """How many bytes lead to an end of the leaf at least, by a search through all its states."""
    leaves = grammar.recognizer.machine.leaves
    states, size = {configuration(grammar, text).leaf}, 0
    while not any(leaves.label_of(state) for state in states):
        states = {after for state in states for after in leaves.next_states(state).values()}
        size += 1
    return size


@pytest.mark.parametrize("text", WITHIN, ids=ascii)
@pytest.mark.parametrize("more", [{"pattern": AWKWARD}, {"pattern": AWKWARD, "minLength": 3}])
def test_from_within_a_character_the_shortest_way_out_is_found(more: Any, text: bytes) -> None:
    grammar = json({"type": "string", **more})
    configuration(grammar, text)
    built = grammar.recognizer.machine.leaves.count
    (way,) = ways_out(grammar, text, most=1)
    assert grammar.recognizer.machine.leaves.count - built < 20, "without searching through states"
    assert len(way.text) == shortest_way_out(grammar, text)
    leaf = configuration(grammar, text).leaf
    for byte in way.text:
        leaf = grammar.recognizer.machine.leaves.next_states(leaf)[byte]
    assert grammar.recognizer.machine.leaves.label_of(leaf) == way.label


def test_names_that_may_come_are_found_among_many_shorter_ones() -> None:
    """The last seven of 300 names, where all of them are needed, and are the longest."""
    names = [f"{at}" for at in range(293)] + [f"longer{at}" for at in range(7)]
    closed = {"type": "object", "additionalProperties": False, "minProperties": 8}
    schema = {**closed, "properties": {name: {"const": 0} for name in names}}
    value = {"type": "json_schema", "json_schema": schema}
    tag = {"type": "structural_tag", "format": value}
    grammar = compile_structural_tag(tag, EVERY_BYTE, whitespace="compact")
    found = ways_out(grammar, b'{"0":0,"longer0":0,')
    assert [exit.text for exit in found] == [b'"longer1"']
