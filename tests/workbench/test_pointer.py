from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.workbench.pointer import (
    pointer_at,
    pointer_of,
    reference_tokens,
    value_at,
    value_spans,
)

TEXT = ' {"a": [1, {"b/c": "x\\"]}"}], "d~": {}, "e" : -1.5e3, "ü": [ ], "a\\u0062": null} '


@pytest.mark.parametrize(
    ("prefix", "pointer"),
    [
        ("", ""),
        ("{", ""),
        ('{"a', ""),
        ('{"a"', ""),
        ('{"a":', "/a"),
        ('{"a": 1', "/a"),
        ('{"a": 1,', ""),
        ('{"a": [', "/a/0"),
        ('{"a": [1, [2, 3], "x', "/a/2"),
        ('{"a": [{"b": {"c/d~": "e', "/a/0/b/c~1d~0"),
        ('{"a": {"b": 1}, "c": ', "/c"),
        ('["]", "{\\"", ', "/2"),
        ('{"x\\u0041": ', "/xA"),
    ],
)
def test_where_a_prefix_ends(prefix: str, pointer: str) -> None:
    assert pointer_at(prefix) == pointer


def resolved(document: Any, pointer: str) -> Any:
    for token in reference_tokens(pointer):
        document = document[int(token) if isinstance(document, list) else token]
    return document


@pytest.mark.parametrize("pointer", ["", "/a", "/a/1", "/a/1/b~1c", "/d~0", "/e"])
def test_a_pointer_leads_to_its_value(pointer: str) -> None:
    document = json.loads(TEXT)
    assert value_at(document, pointer) == resolved(document, pointer)


@pytest.mark.parametrize("pointer", ["/x", "/a/2", "/a/-1", "/a/b", "/e/0", "/d~0/x"])
def test_a_pointer_may_lead_nowhere(pointer: str) -> None:
    assert value_at(json.loads(TEXT), pointer) is None


def test_spans_are_those_of_the_values() -> None:
    document = json.loads(TEXT)
    spans = value_spans(TEXT)
    assert sorted(spans) == sorted(
        ["", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/d~0", "/e", "/ü", "/ab"]
    )
    for pointer, span in spans.items():
        assert json.loads(TEXT[span.start : span.stop]) == resolved(document, pointer)
        if span.name is not None:
            name, _ = json.JSONDecoder().raw_decode(TEXT[span.name :])
            assert name == reference_tokens(pointer)[-1]
    assert spans[""].name is spans["/a/0"].name is None


def test_before_a_value_its_pointer_is_reported() -> None:
    nested = json.dumps([{"a": ["]", {"b,": [[1, {"c:": "}"}], "\\"]}], "d": {"e": []}}] * 3)
    for text in (TEXT, nested):
        for pointer, span in value_spans(text).items():
            assert pointer_at(text[: span.start]) == pointer


def test_reference_tokens_and_back() -> None:
    assert reference_tokens("/a~1b/0/~0") == ["a/b", "0", "~"]
    assert pointer_of("a/b", 0, "~") == "/a~1b/0/~0"
    assert reference_tokens("") == []
