"""Transitions by sets against transitions by ranges."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.character_classes import characters_before, sample
from maskwright.grammar.regular.derivative import arcs, parallel_start, split
from maskwright.grammar.regular.overlay import Split, overlaid
from maskwright.grammar.regular.terms import (
    Chars,
    Regular,
    alt,
    chars,
    complement,
    intersection,
    words,
)
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


def some_set(random: Random) -> Chars:
    """A set of characters outside ASCII, some of whose ranges contain halves of surrogates."""
    cuts = sorted(random.sample(range(0x80, 0x110000, 0x31), 2 * random.randint(1, 12)))
    ranges = tuple((low, high - 1) for low, high in zip(cuts[::2], cuts[1::2], strict=True))
    found = chars(ranges)
    assert isinstance(found, Chars)
    return found


@pytest.mark.parametrize("count", [1, 7, 8, 9, 30])
def test_each_character_leads_where_its_sets_lead(count: int) -> None:
    """However many sets overlap: they are looked at eight at a time."""
    random = Random(count)
    sets = [some_set(random) for _ in range(count)]
    targets = [words([f"target {at}"]) for at in range(count)]
    columns = [Split((), ((some, target),)) for some, target in zip(sets, targets, strict=True)]
    found = overlaid(columns, lambda current: alt(*current.values()))
    edges = {point for some in sets for low, high in some.ranges for point in (low, high + 1)}
    for point in (*edges, *random.choices(range(0x80, 0x110000), k=200)):
        if point < 0x110000 and not 0xD800 <= point < 0xE000:
            own = [
                target
                for some, target in zip(sets, targets, strict=True)
                if any(low <= point <= high for low, high in some.ranges)
            ]
            assert found.after(point) is alt(*own), hex(point)
    assert all(not 0xD800 <= sample(some) < 0xE000 for some, _ in found.beyond)


def test_how_many_characters_come_before_a_point() -> None:
    random = Random(3)
    for some in (
        some_set(random),
        some_set(random),
        chars(charset.EVERY),
        chars(((0xD000, 0xE100),)),
    ):
        assert isinstance(some, Chars)
        points = np.array([0, 0x80, 0xD7FF, 0xD800, 0xDC00, 0xE000, 0xE001, 0x10FFFF, 0x110000])
        members = np.zeros(0x110000, np.int64)
        for low, high in some.ranges:
            members[low : high + 1] = 1
        members[0xD800:0xE000] = 0
        right = [int(members[:point].sum()) for point in points]
        assert characters_before(some, points).tolist() == right
