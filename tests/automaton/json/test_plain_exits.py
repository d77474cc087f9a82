"""Values on levels of their own, which compiled code begins and ends: its exits are the general
ones, and it makes the contexts that these lead to."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.json.labels import Closed, Satisfied, StructuralLabel
from maskwright.automaton.json.plain_exits import PlainExits
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import BLOCKED, NO_FRAME, POP, PUSH, STAY, Exit
from maskwright.automaton.value.level import Level, LevelPhase
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.grammar.shape.shape import Conjunction
from tests.automaton.solving import conjunction, solver

SPACE, OBJECT, ARRAY = StructuralLabel.SPACE, StructuralLabel.OBJECT, StructuralLabel.ARRAY
COMMA, CLOSE = StructuralLabel.COMMA, StructuralLabel.CLOSE
LABELS: tuple[Any, ...] = (
    *(SPACE, OBJECT, ARRAY, COMMA, CLOSE, 1),
    Closed(((0, None),)),
    Satisfied((0,)),
)

OPEN: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "required": ["a"]}
PLAIN: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": ["integer", "string", "null"]},
    {"enum": ["a", "b", 3]},
    OPEN,
    {"type": "object", "properties": {"a": {}}},
    {"type": "object", "additionalProperties": False},
    {"type": "object", "properties": {"a": False}, "required": ["a"]},
    {"type": "object", "patternProperties": {"^x": False}},
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
    {"type": "array", "items": OPEN, "maxItems": 1},
    {},
    {"type": "array"},
    {"type": ["string", "object"]},
    {"anyOf": [{"type": "null"}, OPEN]},
    {"type": ["array", "null"], "items": {"type": ["integer", "object"]}, "maxProperties": 0},
    {"type": "array", "items": {"type": "array", "items": OPEN}},
]
OTHERS: list[dict[str, Any]] = [
    {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "integer"}},
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}},
    {"type": "array", "contains": {"type": "null"}},
    {"type": "array", "items": {"anyOf": [OPEN, {"type": "object", "maxProperties": 1}]}},
]


class General:
    """In place of a `PlainExits`: what knows none of the exits."""

    def __init__(self, plain: PlainExits) -> None:
        self._plain = plain

    def exit(self, *_: object) -> None:
        return None

    def root_leaf(self, *_: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)


def both_ways(root: Conjunction | None = None) -> tuple[JsonContexts, JsonContexts]:
    """The contexts of a value, with and without the compiled exits."""
    known, leaves = solver("any"), LeafTable()
    plain, general = (
        JsonContexts(root, known, leaves, WHITESPACE["compact"], within_tokens=frozenset())
        for _ in range(2)
    )
    vars(general)["_plain"] = General(vars(general)["_plain"])
    return plain, general


def may_end_with(level: Level, label: Any) -> bool:
    """Whether a leaf of a level that is no object's may end with a label."""
    if not level.threads:  # after a comma where no item may come
        return False
    if label is COMMA or isinstance(label, Satisfied):
        return level.phase is LevelPhase.NEXT
    if label is CLOSE:
        return level.phase is not LevelPhase.VALUE
    return level.phase is not LevelPhase.NEXT


def described(contexts: JsonContexts, exit: Exit) -> tuple[Any, ...]:
    """An exit with levels in place of their numbers, which depend on who was asked before."""
    if exit.kind in (BLOCKED, POP):
        return exit.kind, exit.result
    frame = None if exit.frame == NO_FRAME else contexts.level(exit.frame)
    return exit.kind, contexts.level(exit.context), frame, exit.leaf


@pytest.mark.parametrize("schema", [*PLAIN, *OTHERS], ids=str)
def test_exits_are_the_general_ones(schema: dict[str, Any]) -> None:
    """In all contexts of values and arrays that can be reached; their leaf states are equal too."""
    ways = both_ways()
    plain, general = ways
    value = conjunction(schema)
    starts = [vars(each)["_plain"].value_alone(value, 1) for each in ways]
    queue, seen = [(starts[0], starts[1])], {starts[0]}
    for here, alike in queue:
        level = plain.level(here)
        assert level is not None
        assert level == general.level(alike)
        for label in LABELS if level.bracket != "{" else (SPACE,):
            if not may_end_with(level, label):
                continue
            exit, expected = plain.exit(here, label), general.exit(alike, label)
            assert described(plain, exit) == described(general, expected)
            for context, further, each in exit.then:
                assert described(plain, plain.exit(context, further)) == described(plain, each)
            for context, other in (
                (exit.context, expected.context),
                (exit.frame, expected.frame),
            ):
                if exit.kind in (STAY, PUSH) and context > 0 and context not in seen:
                    seen.add(context)
                    queue.append((context, other))


@pytest.mark.parametrize("schema", PLAIN, ids=str)
def test_plain_values_are_read_without_a_value_reader(schema: dict[str, Any]) -> None:
    plain, _ = both_ways()
    start = vars(plain)["_plain"].value_alone(conjunction(schema), 1)
    plain.exit(start, SPACE)
    assert vars(plain)["_values"] == {}


@pytest.mark.parametrize("schema", [*PLAIN, *OTHERS], ids=str)
def test_whole_texts_begin_as_values_do(schema: dict[str, Any]) -> None:
    plain, general = both_ways(conjunction(schema))
    (start, leaf), (alike, expected) = plain.start(), general.start()
    assert start not in vars(plain)["_values"]
    assert (plain.level(start), leaf) == (general.level(alike), expected)
    assert plain.value_leaf(start) == leaf
    for bracket in (OBJECT, ARRAY):
        exit, other = plain.exit(start, bracket), general.exit(alike, bracket)
        assert described(plain, exit) == described(general, other)
        for context, further, each in exit.then:
            assert described(plain, plain.exit(context, further)) == described(plain, each)


@pytest.mark.parametrize("schema", [{"items": False}, {"maxItems": 0}], ids=str)
def test_arrays_that_never_have_items_are_left_to_the_general_exits(schema: Any) -> None:
    plain, general = both_ways()
    value = conjunction({"type": "array", **schema})
    at, alike = (vars(each)["_plain"].value_alone(value, 1) for each in (plain, general))
    opened, expected = plain.exit(at, ARRAY), general.exit(alike, ARRAY)
    assert described(plain, opened) == described(general, expected)
    assert vars(plain)["_plain"].exit(opened.context, SPACE, None) is None


def test_lines_are_left_to_the_general_exits() -> None:
    contexts = JsonContexts(None, solver("any"), LeafTable(), WHITESPACE["pretty"])
    plain = vars(contexts)["_plain"]
    start = plain.value_alone(conjunction(OPEN), 1)
    assert plain.exit(start, SPACE, None) is None
