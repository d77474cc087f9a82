"""Transitions by sets against transitions by ranges."""

from __future__ import annotations

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import arcs, split
from maskwright.grammar.regular.parallel import parallel_start
from maskwright.grammar.regular.terms import Regular, complement, intersection, words
from maskwright.grammar.tags.free_text import text_until, text_without

WORD = full_match(r"[\p{L}_][\p{L}\p{N}_]*")
GREEK = full_match(r"[α-ωé-ÿ]{2,5}x?")
KEYS = words(["in", "if", "naïve", "日本", "Ω"])

TERMS = [
    WORD,
    GREEK,
    KEYS,
    full_match(r"(a|b)*c{2,3}|[^a]\n?"),
    intersection(WORD, complement(KEYS)),
    complement(GREEK),
    intersection(full_match(r".{0,3}"), text_without(("ab", "é"))),
    text_until("<é>"),
    parallel_start((WORD, KEYS, GREEK, text_without(("x",))), None),
    parallel_start(
        (intersection(WORD, complement(KEYS)), complement(WORD), full_match("[0-9]+")), (0, 1, 2)
    ),
]


def flat(term: Regular) -> list[tuple[int, int, Regular]]:
    """Its split, range by range, neighbours with one target joined."""
    found = split(term)
    ranges = [*found.ascii, *((a, b, t) for some, t in found.beyond for a, b in some.ranges)]
    return joined(sorted(ranges, key=lambda arc: arc[0]))


def joined(ranges: list[tuple[int, int, Regular]]) -> list[tuple[int, int, Regular]]:
    found: list[tuple[int, int, Regular]] = []
    for low, high, target in ranges:
        if found and found[-1][1] + 1 == low and found[-1][2] is target:
            found[-1] = (found[-1][0], high, target)
        else:
            found.append((low, high, target))
    return found


@pytest.mark.parametrize("term", TERMS)
def test_both_ways_tell_the_same(term: Regular) -> None:
    seen: list[Regular] = [term]
    for each in seen:  # which grows
        assert flat(each) == joined(list(arcs(each)))
        more = [target for target in split(each).targets if target not in seen]
        seen += more[: max(0, 40 - len(seen))]
