"""Lists and objects within each other in a notation made for these tests, against jsonschema."""

from __future__ import annotations

from itertools import product
from typing import Any

import jsonschema
import pytest

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.regular.terms import EMPTY, words
from maskwright.grammar.rules.tree import Expression, Terminal
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shape import Conjunction, Shape
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tags.rules import choice, series
from maskwright.grammar.tools.members import DeclaredMembers, NestedValues
from tests.grammar.spelling import Reader


class Notation:
    """`1` and `2`, lists like `(1.2)`, objects like `{a1.b(2)}`."""

    def __init__(self) -> None:
        self.rules: dict[str, Expression] = {}
        self.members = DeclaredMembers(Shapes(), "in a notation")
        self.nested = NestedValues(self.members, "n", self.rules, Terminal(words(["."])))

    def value(self, value: Conjunction, at: str) -> Expression:
        shape = self.nested.shape(value)
        options: list[Expression] = []
        if shape.scalars is not EMPTY:
            options.append(Terminal(shape.scalars))
        if shape.arrays or shape.objects:
            options.append(self.nested.container(value, at, "", lambda its: self.all(its, value)))
        return choice(options)

    def all(self, shape: Shape, value: Conjunction) -> list[Expression]:
        lists = [self.nested.items(each, value, "", self.value) for each in shape.arrays]
        objects = [self.nested.listed(each, value, "", self.member) for each in shape.objects]
        return [
            *(series(Terminal(words(["("])), each, Terminal(words([")"]))) for each in lists),
            *(series(Terminal(words(["{"])), each, Terminal(words(["}"]))) for each in objects),
        ]

    def member(self, name: str, value: Conjunction, at: str) -> Expression:
        return series(Terminal(words([name])), self.value(value, at))


def accepts(schema: Any, texts: list[str]) -> list[str]:
    notation = Notation()
    root = parse_schema(schema, ParseOptions()).root
    expression = notation.value(frozenset([root]), "")
    return [
        text
        for text in texts
        if Reader(text, lambda _schema, _value: False, notation.rules).readings(expression)
    ]


def written(value: Any) -> str:
    match value:
        case list():
            return f"({'.'.join(map(written, value))})"
        case dict():
            return f"{{{'.'.join(name + written(each) for name, each in value.items())}}}"
        case _:
            return str(value)


SCALARS: list[Any] = [1, 2]
LISTS: list[Any] = [[*each] for size in range(4) for each in product(SCALARS, repeat=size)]
OBJECTS: list[Any] = [
    dict(zip(names, values, strict=True))
    for names in ("", "a", "b", "c", "ab", "ba", "bc", "ac", "abc")
    for values in product([1, 2], repeat=len(names))
]
DEEP: list[Any] = [[[1]], [[]], [[], [1, 2]], [{"a": 1}], {"a": [1]}, {"a": {"a": 1}}, [[[]]]]
VALUES = SCALARS + LISTS + OBJECTS + DEEP

SCALAR = {"enum": SCALARS}
ITEMS: list[dict[str, Any]] = [
    {},
    {"minItems": 1},
    {"minItems": 2},
    {"maxItems": 0},
    {"maxItems": 1},
    {"minItems": 1, "maxItems": 2},
    {"minItems": 2, "maxItems": 2},
    {"prefixItems": [{"const": 1}]},
    {"prefixItems": [{"const": 1}, {"const": 2}], "minItems": 1},
    {"prefixItems": [{"const": 1}, {"const": 2}], "items": False},
    {"prefixItems": [{"const": 1}, {"const": 2}], "minItems": 2, "maxItems": 3},
    {"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 1},
]


@pytest.mark.parametrize("bounds", ITEMS, ids=str)
def test_lists_are_accepted_if_they_are_valid(bounds: dict[str, Any]) -> None:
    schema = {"type": "array", "items": SCALAR, **bounds}
    valid = jsonschema.Draft202012Validator(schema).is_valid
    expected = [written(each) for each in VALUES if valid(each)]
    assert accepts(schema, [*map(written, VALUES)]) == expected
    assert expected


@pytest.mark.parametrize("required", ["", "a", "b", "c", "ab", "ac", "abc"])
def test_objects_are_accepted_in_the_order_of_the_schema(required: str) -> None:
    properties = dict.fromkeys("abc", SCALAR)
    schema = {"type": "object", "properties": properties, "required": [*required]}
    valid = jsonschema.Draft202012Validator({**schema, "additionalProperties": False}).is_valid
    expected = [
        written(each)
        for each in VALUES
        if valid(each) and (not isinstance(each, dict) or [*each] == sorted(each))
    ]
    assert accepts(schema, [*map(written, VALUES)]) == expected
    assert expected


def test_containers_within_themselves_have_one_rule_each() -> None:
    tree = {
        "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "$ref": "#/$defs/tree",
    }
    valid = jsonschema.Draft202012Validator(tree).is_valid
    expected = [written(each) for each in VALUES if valid(each)]
    assert accepts(tree, [*map(written, VALUES)]) == expected == ["()", "(())", "((()))"]
    notation = Notation()
    notation.value(frozenset([parse_schema(tree, ParseOptions()).root]), "")
    assert len(notation.rules) == 2  # the value itself, and what it refers to


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "array", "contains": {"const": 1}}, "contains"),
        ({"type": "array", "items": SCALAR, "uniqueItems": True}, "uniqueItems"),
        ({"type": "array", "not": {"uniqueItems": True}, "items": SCALAR}, "uniqueItems"),
    ],
)
def test_what_would_compare_items_is_refused(schema: Any, keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=keyword):
        accepts(schema, [])


def test_items_of_a_list_with_one_at_most_differ_anyway() -> None:
    schema = {"type": "array", "items": SCALAR, "uniqueItems": True, "maxItems": 1}
    assert accepts(schema, ["()", "(1)", "(1.2)"]) == ["()", "(1)"]
