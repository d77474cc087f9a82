"""Substrings of a document, against all pairs of a start and an end."""

from __future__ import annotations

import re

import pytest

from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.enumerate import few
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.substrings import Unit, joined_chunks, substrings
from maskwright.grammar.regular.terms import EMPTY, EPSILON

PIECES: dict[Unit, str] = {"char": r"(?s:.)", "word": r"\w+|[^\w\s]", "line": r"[^\n]+"}


@pytest.mark.parametrize("unit", PIECES)
@pytest.mark.parametrize(
    "document",
    ["", "a", "abab", "to be, or  not to be.", "one\n\ntwo\none", "é日é", " \n ", "a_1 b", "\nx\n"],
)
def test_the_substrings_of_whole_units(document: str, unit: Unit) -> None:
    spans = [found.span() for found in re.finditer(PIECES[unit], document)]
    expected = {document[low:high] for low, _ in spans for _, high in spans if low < high}
    term = substrings(document, unit)
    found = few(term, 1000)
    assert found is not None
    assert set(found) == expected
    if expected:
        assert len(shortest(term) or "") == min(map(len, expected))
    else:
        assert term is EMPTY


@pytest.mark.parametrize(
    ("chunks", "texts"),
    [
        ([], {""}),
        (["ab"], {"", "ab"}),
        (["ab", "c", "d"], {"", "ab", "c", "d", "abc", "cd", "abcd"}),
        (["a", "", "a"], {"", "a", "aa"}),
    ],
)
def test_runs_of_neighbouring_chunks(chunks: list[str], texts: set[str]) -> None:
    found = few(joined_chunks(chunks), 100)
    assert found is not None
    assert set(found) == texts
    assert contains(joined_chunks(chunks), "")
    if chunks == []:
        assert joined_chunks(chunks) is EPSILON


def test_a_document_of_many_places_is_read_to_its_end() -> None:
    document = "ab" * 5000
    term = substrings(document, "char")
    assert contains(term, "ba" * 4999)
    assert not contains(term, "abb")
    assert not contains(term, document + "a")
