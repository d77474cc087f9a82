"""Shapes in YAML: the JSON that a text stands for, and where its values stand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from maskwright.cli.input.yaml_text import read_yaml, yaml_spans
from maskwright.errors import GrammarError
from maskwright.grammar.schema.document import RepeatedNames
from maskwright.grammar.schema.document_text import Vanished

NAMES = "abcdefghi"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("type: object\nrequired: [a]\n", {"type": "object", "required": ["a"]}),
        (
            "{a: 1, b: 1.5, c: -2, d: 1e3, e: .5}",
            {"a": 1, "b": 1.5, "c": -2, "d": 1000.0, "e": 0.5},
        ),
        ("[true, false, null, ~, ]", [True, False, None, None]),
        (
            "[yes, no, on, off, 2024-01-01, 1_000, 12:30]",
            ["yes", "no", "on", "off", "2024-01-01", "1_000", "12:30"],
        ),
        ("no: 1\n200: 2\ntrue: 3\nnull: 4\n", {"no": 1, "200": 2, "true": 3, "null": 4}),
        ("a:\n", {"a": None}),
        ("[0x10, 0o17, 007]", [16, 15, 7]),
        (
            "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n",
            {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}},
        ),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("pattern: '^\\d+$'", {"pattern": "^\\d+$"}),
    ],
    ids=str,
)
def test_values(text: str, value: Any) -> None:
    found = read_yaml(text)
    assert found == value
    assert repr(found) == repr(value)


def test_a_number_that_is_too_small_is_no_0() -> None:
    assert isinstance(read_yaml("minimum: 1e-400")["minimum"], Vanished)
    assert not isinstance(read_yaml("minimum: -0.0e5")["minimum"], Vanished)


def test_a_repeated_name_is_kept() -> None:
    found = read_yaml("a: 1\nb: 2\na: 3\n")
    assert isinstance(found, RepeatedNames)
    assert found == {"a": 3, "b": 2}
    assert found.pairs == [("a", 1), ("b", 2), ("a", 3)]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: [1\n", 2, 1),
        ("a: b: c\n", 1, 5),
        ("a: 1\n  b: 2\n", 2, 4),
        ("a: *x\n", 1, 4),
        ("a: !!python/name:os.system x\n", 1, 4),
        ("a: \x07\n", 1, 1),
    ],
)
def test_what_is_no_yaml(text: str, line: int, column: int) -> None:
    with pytest.raises(GrammarError, match="not valid YAML") as caught:
        read_yaml(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_aliases_of_aliases_are_bounded() -> None:
    """Eight lines of nine aliases each would be 43 million values."""
    lines = [f"{one}: &{one} [{', '.join(9 * ['*' + before])}]" for before, one in pairwise(NAMES)]
    text = "\n".join([f"{NAMES[0]}: &{NAMES[0]} [x, y]", *lines])
    with pytest.raises(GrammarError, match="with its aliases written out") as caught:
        read_yaml(text)
    assert caught.value.line == 7
    assert len(read_yaml("\n".join(text.splitlines()[:6]))) == 6


def test_spans() -> None:
    text = "type: object\nproperties:\n  a/b: {type: string}\n  c: &x [1, é, 2]\n  d: *x\n"
    spans = yaml_spans(text)
    shown = {pointer: text[span.start : span.stop] for pointer, span in spans.items() if pointer}
    assert shown["/type"] == "object"
    assert shown["/properties/a~1b"] == "{type: string}"
    assert shown["/properties/c/1"] == "é"
    assert shown["/properties/c/2"] == shown["/properties/d/2"] == "2"
    assert spans["/properties/d"].name == text.index("d: *x")
    assert spans[""].start == 0


def test_an_alias_of_what_is_around_it() -> None:
    assert "/a/b" in yaml_spans("a: &x {b: *x}\n")
