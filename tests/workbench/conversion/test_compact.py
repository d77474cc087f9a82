"""Short expressions are equal to what they stand for."""

from __future__ import annotations

import pytest

from maskwright.grammar.dialects.spelling import pattern
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.terms import complement, intersection
from maskwright.workbench.conversion.languages import compact


@pytest.mark.parametrize(
    ("given", "longest"),
    [
        (r"(?=-?(0|[1-9]\d*)$)-?\d{1,4}", len("/0|-(?:0|[1-9][0-9]{0,3})|[1-9][0-9]{0,3}/")),
        (r"(?!b)[ab]c?", len("/ac?/")),
        (r"(?=[ab]*$)a*", None),  # endless
    ],
)
def test_a_language(given: str, longest: int | None) -> None:
    term = full_match(given)
    short = compact(term)
    written = pattern(short)
    assert (written is None) is (longest is None)
    assert len(written or "") <= (longest or 0)
    for one, other in ((term, short), (short, term)):
        assert not is_live(intersection(one, complement(other)))
