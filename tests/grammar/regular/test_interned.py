"""Objects are found by their keys as long as they are alive."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random

from maskwright.grammar.regular.interned import Interned, Kept
from maskwright.grammar.regular.terms import EPSILON, alive, alt, char, concat, repeat


class Value(Kept):
    """An object with a key."""


def test_a_value_is_found_until_it_is_gone() -> None:
    known: Interned[Value] = Interned()
    value = Value()
    assert known.get("key") is None
    assert known.keep("key", value) is value
    assert known.get("key") is value
    assert known.get(("key", 1)) is None
    assert len(known) == 1
    del value
    assert known.get("key") is None
    assert len(known) == 0


def test_the_end_of_a_value_leaves_the_one_after_it() -> None:
    known: Interned[Value] = Interned()
    first, second = Value(), Value()
    known.keep("key", first)
    known.keep("key", second)
    del first
    assert known.get("key") is second
    assert len(known) == 1


def test_nothing_is_left_of_a_table_that_is_gone_before_its_values() -> None:
    known: Interned[Value] = Interned()
    value = known.keep("key", Value())
    del known
    assert isinstance(value, Value)
    del value


def test_a_long_chain_of_values_is_freed() -> None:
    before = alive()
    chain = EPSILON
    for number in range(200_000):
        chain = concat(char(chr(0x4E00 + number % 1_000)), chain)
    assert alive() > before + 100_000
    del chain
    assert alive() <= before


def test_threads_find_equal_values_while_others_end() -> None:
    before = alive()

    def work(seed: int) -> None:
        random = Random(seed)
        for _ in range(4_000):
            letter, other = (char(chr(0xE100 + random.randrange(5))) for _ in range(2))
            least = random.randrange(3)
            first = alt(repeat(letter, least, least + 2), concat(letter, other))
            second = alt(concat(letter, other), repeat(letter, least, least + 2))
            assert first is second

    between = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(4)))
    finally:
        sys.setswitchinterval(between)
    assert alive() <= before
