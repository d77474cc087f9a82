"""UUIDs and JSON Pointers: examples of their RFCs."""

from __future__ import annotations

import pytest

from maskwright.grammar.formats import language
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import Regular

UUID = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
TABLE: list[tuple[Regular, list[str], list[str]]] = [
    (
        language.uuid(),
        [UUID, UUID.upper(), "00000000-0000-0000-0000-000000000000"],
        ["", UUID[:-1], UUID + "0", UUID.replace("-", ""), UUID.replace("f", "g"), f"{{{UUID}}}"],
    ),
    (
        language.json_pointer(),
        ["", "/", "/foo/0", "/a~1b", "/m~0n", "/c%d", "/ ", "//", "/~01", '/k"l', "/ü"],
        ["foo", "#", "/~", "/~2", "/a~", "0", "a/", "#/a"],
    ),
    (
        language.relative_json_pointer(shifted=False),
        ["0", "1/0", "2/highly/nested/objects", "0#", "1#", "10/a~1b"],
        ["", "/a", "01", "-1", "+1", "0##", "1#/a", "1+1", "0-1/a", "1/~2"],
    ),
    (
        language.relative_json_pointer(shifted=True),
        ["0", "0-1", "1+10/a", "0+1#", "2-3"],
        ["", "0+0", "0+01", "0+", "+1", "0+-1", "01+1"],
    ),
]


@pytest.mark.parametrize(
    ("language", "accepted", "rejected"), TABLE, ids=["uuid", "pointer", "relative", "shifted"]
)
def test_names(language: Regular, accepted: list[str], rejected: list[str]) -> None:
    assert [text for text in accepted if not contains(language, text)] == []
    assert [text for text in rejected if contains(language, text)] == []
