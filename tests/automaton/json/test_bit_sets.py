"""Sets as bits: against sets of Python, small and large."""

from __future__ import annotations

from random import Random

import pytest

from maskwright.automaton.json.bit_sets import bits_of, numbers_in


@pytest.mark.parametrize("most", [1, 8, 511, 512, 513, 60_000])
def test_there_and_back(most: int) -> None:
    draw = Random(most)
    for _ in range(20):
        numbers = [draw.randrange(most) for _ in range(draw.randint(0, 30))]
        found = bits_of(iter(numbers))
        assert found == sum(1 << number for number in set(numbers))
        assert list(numbers_in(found)) == sorted(set(numbers))


def test_all_numbers_up_to_one() -> None:
    for count in (0, 1, 512, 513, 2_000):
        assert bits_of(range(count)) == (1 << count) - 1
        assert list(numbers_in((1 << count) - 1)) == list(range(count))
