"""UTF-8 of characters beyond ASCII by sets: each character leads to the target of its set."""

from __future__ import annotations

import pytest

from maskwright.automaton.leaf.keys import Skipped, Text
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.spelling import ANY_BYTES
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.terms import alt, chars, concat, words
from tests.leaf_states import leaf_after

SETS: list[tuple[Ranges, ...]] = [
    (((0xE9, 0xE9),),),
    (((0xE0, 0xFF),), ((0x100, 0x17F), (0x400, 0x4FF))),
    (((0x80, 0x7FF),), ((0x800, 0xD7FF), (0xE000, 0xFFFF)), ((0x10000, 0x10FFFF),)),
    (((0x80, 0x10FFFF),),),
    (((0x4E00, 0x9FFF), (0x1F600, 0x1F64F)), ((0x3040, 0x30FF),)),
    (((0xFFFF, 0x10000),), ((0x10FFFF, 0x10FFFF),)),
]
EDGES = (0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x10FFFF)


def first_row(leaves: LeafTable, ranges: tuple[Ranges, ...]) -> tuple[dict[int, int], list[int]]:
    """The row of a text in which a character of each set is followed by the set's number."""
    rests = [words([str(number)]) for number in range(len(ranges))]
    pairs = zip(ranges, rests, strict=True)
    term = alt(*(concat(chars(each), rest) for each, rest in pairs))
    row = leaves.next_states(leaves.state(Text(False, term)))
    return row, [leaves.state(Text(False, rest)) for rest in rests]


@pytest.mark.parametrize("ranges", SETS, ids=str)
def test_each_character_leads_to_the_target_of_its_set(ranges: tuple[Ranges, ...]) -> None:
    leaves = LeafTable()
    leads, targets = first_row(leaves, ranges)
    ends = {end for some in ranges for pair in some for end in pair}
    points = {point + step for point in (*ends, *EDGES) for step in (-1, 0, 1)}
    points = {p for p in points if 0x80 <= p <= 0x10FFFF and not 0xD800 <= p < 0xE000}
    for point in sorted(points):
        lead, *rest = chr(point).encode()
        found = leaf_after(leaves, leads.get(lead, DEAD), bytes(rest)) if lead in leads else DEAD
        within = [target for some, target in zip(ranges, targets, strict=True)
                  if any(low <= point <= high for low, high in some)]  # fmt: skip
        assert found == (within[0] if within else DEAD), hex(point)


@pytest.mark.parametrize(
    "data",
    [
        b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xc3(", b"\xe4\xb8(", b"\xf0\x9f\x98(",
    ],
    ids=bytes.hex,
)  # fmt: skip
@pytest.mark.parametrize("ranges", [SETS[2], SETS[3]], ids=["three sets", "one set"])
def test_what_is_no_utf8_is_dead(ranges: tuple[Ranges, ...], data: bytes) -> None:
    leaves = LeafTable()
    leads, _ = first_row(leaves, ranges)
    assert data[0] not in leads or leaf_after(leaves, leads[data[0]], data[1:]) == DEAD


def test_a_block_within_one_set_is_shared_by_all_sets_that_hold_it() -> None:
    leaves = LeafTable()
    wide, targets = first_row(leaves, (((0x3000, 0x9FFF),), ((0x100, 0x17F),)))
    narrow, same = first_row(leaves, (((0x4000, 0x4FFF),),))
    assert same == targets[:1]
    assert wide[0xE4] == narrow[0xE4] == leaves.state(Skipped(ANY_BYTES + 2, targets[0]))
    assert wide[0xE3] != narrow.get(0xE3)
