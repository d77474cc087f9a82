"""Which key goes next, against a naive order."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.engine.tiers.eviction_order import (
    STORE_POLICIES,
    EvictionOrder,
    StorePolicy,
)


@given(
    st.sampled_from(STORE_POLICIES),
    st.lists(st.tuples(st.sampled_from(["use", "use", "discard", "pop"]), st.integers(0, 5))),
)
def test_order(policy: str, calls: list[tuple[str, int]]) -> None:
    order = EvictionOrder(cast(StorePolicy, policy))
    counts: dict[bytes, int] = {}
    last: dict[bytes, int] = {}
    for now, (call, number) in enumerate(calls):
        key = bytes([number])
        if call == "use":
            order.use(key)
            counts[key] = counts.get(key, 0) + 1
            last[key] = now
        elif call == "discard":
            order.discard(key)
            counts.pop(key, None)
        elif counts:
            expected = min(counts, key=lambda k: (counts[k] if policy == "lfu" else 0, last[k]))
            assert order.pop() == expected
            del counts[expected]
        assert len(order) == len(counts)


def test_an_empty_order_has_nothing_to_give() -> None:
    with pytest.raises(IndexError):
        EvictionOrder("lru").pop()


def test_the_heap_stays_small() -> None:
    order = EvictionOrder("lfu")
    for number in range(10_000):
        order.use(bytes([number % 7]))
    assert len(order._heap) < 100
