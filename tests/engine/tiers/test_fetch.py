"""Blocks that arrive for one sequence, in any order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskwright.engine.tiers.fetch import Fetch


@given(st.permutations(range(3, 9)), st.sets(st.integers(3, 8)), st.integers(1, 4), st.booleans())
def test_blocks_come_out_in_order_up_to_the_first_that_is_lost(
    arrivals: list[int], lost: set[int], most: int, whole: bool
) -> None:
    fetch = Fetch({number: bytes([number]) for number in range(3, 9)}, whole=whole)
    got: list[int] = []
    for number in arrivals:
        fetch.deliver(number, None if number in lost else bytes([number]))
        taken = fetch.take(most)
        assert all(contents == bytes([n]) for n, contents in taken.items())
        assert whole or len(taken) <= most
        got += sorted(taken)
    while fetch.ready and not fetch.over:
        got += sorted(fetch.take(most))
    assert fetch.over
    assert fetch.ready
    assert fetch.take(most) == {}
    end = min(lost, default=9)
    assert got == ([] if whole and lost else list(range(3, end)))


def test_the_engine_is_woken_at_the_end_and_when_one_is_lost() -> None:
    fetch = Fetch(dict.fromkeys(range(20), b""), whole=False)
    waking = [number for number in range(20) if fetch.deliver(number, b"x")]
    assert waking == [15, 19]
    assert Fetch({0: b"", 1: b""}, whole=False).deliver(0, None)
