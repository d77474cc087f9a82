"""Witnesses as text, in each style."""

from __future__ import annotations

import json

import pytest

from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.automaton.value.witness_text import (
    ArrayWitness,
    ObjectWitness,
    ScalarWitness,
    Witness,
    byte_count,
    compact,
    rendered,
    size,
    spelled,
)

ONE = ScalarWitness("1e0")
NESTED = ObjectWitness(
    (('a"', ArrayWitness((ONE, ScalarWitness('"é"')))), ("b", ObjectWitness(())))
)

TEXTS: list[tuple[str, Witness, str]] = [
    ("compact", NESTED, '{"a\\"":[1e0,"é"],"b":{}}'),
    ("spaced", NESTED, '{"a\\"": [1e0, "é"], "b": {}}'),
    ("flexible", NESTED, '{"a\\"":[1e0,"é"],"b":{}}'),
    ("pretty", NESTED, '{\n  "a\\"": [\n    1e0,\n    "é"\n  ],\n  "b": {}\n}'),
    ("pretty", ArrayWitness(()), "[]"),
    ("pretty", ONE, "1e0"),
]


@pytest.mark.parametrize(("style", "witness", "text"), TEXTS)
def test_texts(style: str, witness: Witness, text: str) -> None:
    assert rendered(witness, WHITESPACE[style], 0) == text


def test_pretty_texts_are_those_of_the_json_module() -> None:
    value = {"a": [1, {"b": [], "c": {"d": "x"}}], "e": {}}
    witness = ObjectWitness(
        (
            ("a", ArrayWitness((ScalarWitness("1"), _object({"b": ArrayWitness(()), "c": _D})))),
            ("e", ObjectWitness(())),
        )
    )
    assert rendered(witness, WHITESPACE["pretty"], 0) == json.dumps(value, indent=2)


def test_a_witness_within_others_is_indented_to_its_depth() -> None:
    assert rendered(ArrayWitness((ONE,)), WHITESPACE["pretty"], 2) == "[\n      1e0\n    ]"


def _object(members: dict[str, Witness]) -> ObjectWitness:
    return ObjectWitness(tuple(members.items()))


_D = _object({"d": ScalarWitness('"x"')})

SIZES = [("a", 1), ("é", 2), ("€", 3), ("😀", 4), ("\ud83d", 3)]


@pytest.mark.parametrize(("text", "count"), SIZES)
def test_bytes_are_counted(text: str, count: int) -> None:
    assert byte_count(text) == count
    assert size(ScalarWitness(text)) == count


def test_no_witness_is_larger_than_any() -> None:
    assert size(None) == float("inf")
    assert size(NESTED) == len(compact(NESTED).encode())


def test_strings_have_no_needless_escapes() -> None:
    assert spelled('é"\\\n/') == '"é\\"\\\\\\n/"'
