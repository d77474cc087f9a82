"""Upper bounds on values, items and members, in bytes."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.automaton.finish.bounds import SHORT_NAMES, PartBounds
from maskwright.automaton.finish.distinct_bounds import DISTINGUISHING, UNFINISHED
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.name_classes import NameClasses
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.automaton.value.witness_text import byte_count, spelled
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.limits import DEFAULT_LIMITS

AROUND = len(",:") + UNFINISHED
"""What a member takes besides its name and its value."""


def begun(schema: Any, whitespace: str = "compact") -> tuple[PartBounds, Any]:
    """The bounds, and the only container that the schema allows."""
    root = frozenset([parse_schema(schema, ParseOptions()).root])
    solver = Solver("any", DEFAULT_LIMITS)
    [progress] = solver.values.containers(root)
    return PartBounds(solver, WHITESPACE[whitespace], len), progress  # pyright: ignore[reportArgumentType] - a name of the table


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "costliest"),
    [
        (closed(a={"const": 1}, bb={"const": 123}), len(',"bb":123') + UNFINISHED),
        ({"type": "object", "additionalProperties": {"const": 12}}, AROUND + DISTINGUISHING + 2),
        (closed(), len(",")),
        # A name of a language: the second shortest, as the shortest may have just been read
        (
            {**closed(), "patternProperties": {"^ab*$": {"const": 1}}},
            AROUND + len('"ab"') + 1,
        ),
        # A value that meets what a requirement asks of it
        ({**closed(a={}), "not": closed(a={"maxLength": 3})}, len(',"a":"xxxx"') + UNFINISHED),
    ],
    ids=str,
)
def test_the_costliest_member(schema: Any, costliest: int) -> None:
    bounds, progress = begun(schema)
    assert isinstance(progress, ObjectProgress)
    assert bounds.costliest_member(progress, 1) == costliest


@pytest.mark.parametrize(
    ("more", "besides", "parts"),
    [
        ({"required": ["a"]}, 0, len(',"a":1')),
        ({"required": ["a"], "minProperties": 1}, 0, len(',"a":1')),
        ({"minProperties": 2}, 0, 2 * len(',"bb":123')),
        ({"minProperties": 2}, 1, len(',"bb":123')),
        ({"required": ["a"], "minProperties": 2}, 0, len(',"a":1,"bb":123')),
    ],
    ids=str,
)
def test_required_members(more: Any, besides: int, parts: int) -> None:
    bounds, progress = begun(closed(a={"const": 1}, bb={"const": 123}) | more)
    assert bounds.required_members(progress, 1, besides) == parts


@pytest.mark.parametrize(
    ("least", "name"), [(2, 3), (62, 3), (63, 4), (2_014, 4), (2_015, DISTINGUISHING)]
)
def test_names_of_required_members(least: int, name: int) -> None:
    """The more names there are, the longer is the next one."""
    schema = {"type": "object", "minProperties": least, "additionalProperties": {"const": 12}}
    bounds, progress = begun(schema)
    assert bounds.required_members(progress, 1, 0) == least * (len(",:12") + name)


def test_short_names_are_as_many_as_a_schema_gives() -> None:
    names = NameClasses(DEFAULT_LIMITS)
    _, progress = begun({"type": "object"})
    [every] = names.of(progress.shape.languages)
    given = names.many_fresh(progress, every, SHORT_NAMES[-1][1] + 1)
    assert given is not None
    sizes = [byte_count(spelled(name)) for name in given]
    for size, most in SHORT_NAMES:
        assert max(sizes[:most]) == size < sizes[most]


@pytest.mark.parametrize(
    ("schema", "whitespace", "parts"),
    [
        ({"items": {"const": 12}, "minItems": 3}, "compact", 3 * len(",12")),
        ({"items": {"const": 12}, "minItems": 3}, "pretty", 3 * len(",\n  12")),
        ({"prefixItems": [{"const": 1}], "contains": {"const": "ab"}}, "compact", 2 * len(',"ab"')),
        ({"contains": {"const": 1}, "minContains": 3}, "compact", 3 * len(",1")),
    ],
    ids=str,
)
def test_required_items(schema: Any, whitespace: str, parts: int) -> None:
    bounds, progress = begun({"type": "array", **schema}, whitespace)
    assert isinstance(progress, ArrayProgress)
    assert bounds.required_items(progress, 1) == parts
    assert bounds.closing("]", 1) == (2 if whitespace == "pretty" else 1)
