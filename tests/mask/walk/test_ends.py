"""Tokens cut into pieces that each end one name or item."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from maskwright.mask.walk.ends import pieces, repeating_arrays
from tests.matching import vocabulary
from tests.properties.test_liveness import check_walks

CUTS = [
    (b"a", b'["', [b"a"]),
    (b'","', b'["a', [b'","']),
    (b'"},{"', b'[{"a":"', [b'"},{"']),
    (b'"],["', b'[["a', [b'"],["']),
    (b",1,", b"[0", [b",", b"1,"]),
    (b",1,", b'["0"', [b",1,"]),
    (b'","a"]', b'["', [b'",', b'"a"', b"]"]),
    (b'a":{"b":', b'{"', [b'a"', b':{"b"', b":"]),
    (b'":1,"b":', b'{"a', [b'"', b':1,"b"', b":"]),
    (b'":1,"b', b'{"a', [b'":1,"b']),
    (b',"b":1', b'{"a":1', [b',"b":1']),
    (b',"b",1', b"[1", [b",", b'"b",', b"1"]),
    (b'"a":1', b"{", [b'"a":1']),
    (b'","b":"c', b'{"a":"', [b'","b":"c']),
    (b'\\""', b'["', [b'\\""']),
]
REPEATS = [
    (b'","', b'["a', [b'",', b'"']),
    (b"],[", b"[[", [b"],", b"["]),
    (b'", ', b'["a', [b'", ']),
]


@pytest.mark.parametrize(("data", "before", "cut"), CUTS)
def test_tokens_that_end_two(data: bytes, before: bytes, cut: list[bytes]) -> None:
    assert pieces(data, before, repeats=False) == tuple(cut)


@pytest.mark.parametrize(("data", "before", "cut"), REPEATS)
def test_tokens_that_go_on(data: bytes, before: bytes, cut: list[bytes]) -> None:
    assert pieces(data, before, repeats=True) == tuple(cut)
    assert pieces(data, before, repeats=False) == (data,)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'{"a":[1,2],"b":[1,2]}', []),
        (b'[1, 1],"a":"[2,2]"', [b"[1, 1]"]),
        (b'[["a","b"],["a","b"]]', [b'[["a","b"],["a","b"]]']),
        (b'],["\\"",3,"\\""]', [b'["\\"",3,"\\""]']),
        (b'{"a":1},{"a":1}]', []),
    ],
)
def test_arrays_with_items_spelled_alike(text: bytes, found: list[bytes]) -> None:
    assert [text[start:stop] for start, stop in repeating_arrays(text)] == found


TOKENS = (",1,", "0,1,", "0,1,2", '"a","', '","a"', '["",', '{"a":0,"b":', '":0,"b":0', ',"b":')
UNIQUE: dict[str, Any] = {"type": "array", "uniqueItems": True, "minItems": 3}
TOLD_APART: list[dict[str, Any]] = [
    {**UNIQUE, "items": {"type": "integer"}},
    {**UNIQUE, "items": {"type": "string"}},
    {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 3},
]


@pytest.mark.parametrize("schema", TOLD_APART, ids=str)
def test_endings_are_spelled_without_such_tokens(schema: dict[str, Any]) -> None:
    """Else a mask under a budget would count on a token that is not offered."""
    check_walks(schema, vocabulary(*TOKENS), Random(1), 6)
