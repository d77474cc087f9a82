"""The store in host memory: its bound, and what leaves it."""

from __future__ import annotations

import random

from maskwright.engine.tiers.stores import HostStore


def test_the_bound_holds_and_nothing_is_lost_unseen() -> None:
    rng, store = random.Random(1), HostStore(1000)
    inside: dict[bytes, bytes] = {}
    for number in range(400):
        key, contents = bytes([rng.randrange(60)]), bytes([number % 256]) * rng.randint(1, 300)
        gone = store.write(key, contents)
        inside[key] = contents
        for left, what in gone:
            assert inside.pop(left) == what
        assert store.bytes == sum(map(len, inside.values())) <= 1000
        assert len(store) == len(inside)
    assert store.evicted > 100
    assert all(store.read(key) == contents for key, contents in inside.items())


def test_a_use_decides_who_stays() -> None:
    lru, lfu = HostStore(3), HostStore(3, "lfu")
    for store in (lru, lfu):
        for key in (b"a", b"b", b"c"):
            store.write(key, b"1")
        for key in (b"a", b"a", b"b", b"c"):
            store.read(key)
    assert [key for key, _ in lru.write(b"d", b"1")] == [b"a"]
    assert [key for key, _ in lfu.write(b"d", b"1")] == [b"b"]


def test_what_is_larger_than_the_store_goes_past_it() -> None:
    store = HostStore(3)
    store.write(b"a", b"1")
    assert store.write(b"b", b"1234") == [(b"b", b"1234")]
    assert b"a" in store
    assert b"b" not in store
    assert store.read(b"b") is None
