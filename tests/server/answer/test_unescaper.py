"""Strings that arrive in pieces, cut anywhere."""

from __future__ import annotations

import json

import pytest

from maskwright.grammar.tools.custom_input import PYTHON_ESCAPES
from maskwright.server.answer.parts import Unescaper

TEXT = 'a "b" \\ \\n \n\r\0 é\U0001f600 \\'


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("spelling", ["json", "python", "raw"])
def test_pieces_are_read_as_the_whole(spelling: str, size: int) -> None:
    written = {
        "json": json.dumps(TEXT, ensure_ascii=False)[1:-1],
        "python": "".join(PYTHON_ESCAPES.get(each, each) for each in TEXT),
        "raw": TEXT,
    }[spelling]
    reader = Unescaper(spelling)
    pieces = [reader.read(written[at : at + size]) for at in range(0, len(written), size)]
    assert "".join(pieces) == TEXT
    if size == 1:
        assert pieces[:3] == ["a", " ", "" if spelling != "raw" else '"']
