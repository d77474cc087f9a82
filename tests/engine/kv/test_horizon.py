"""The time since which nothing that was used has been evicted."""

from __future__ import annotations

import random

from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.kv.prefix import MOST_NOTES, CacheHorizon, PrefixTree


def use(tree: PrefixTree, pool: BlockPool, text: tuple[int, ...]) -> None:
    """Compute a text of whole blocks of two, or find it."""
    node = tree.match("", text, len(text))
    table = tree.path(node)
    pool.share(table)
    for end in range(2 * node.depth + 2, len(text) + 1, 2):
        if not pool.free:
            tree.evict(1)
        table += pool.allocate(1)
        node = tree.insert(node, text[end - 2 : end], table[-1])
    pool.release(table)
    tree.leave(node)


def test_what_was_used_after_the_horizon_is_cached() -> None:
    """And something before it is not, as soon as anything was evicted."""
    rng = random.Random(3)
    pool = BlockPool(12, 2)
    tree = PrefixTree(pool, AttentionWindow(2, 64))
    horizon, used = CacheHorizon(tree), dict[tuple[int, ...], float]()
    kept = lost = 0
    for now in range(300):
        text = tuple(rng.randrange(6) for _ in range(2 * rng.randint(1, 4)))
        use(tree, pool, text)
        used[text] = float(now)
        horizon.note(float(now))
        assert (horizon.time is None) == (tree.evictions == 0)
        for other, when in used.items():
            cached = 2 * tree.match("", other, len(other)).depth == len(other)
            if horizon.time is None or when > horizon.time:
                assert cached
                kept += 1
            lost += not cached
    assert kept > 300 < lost


def test_a_long_time_without_an_eviction_takes_bounded_memory() -> None:
    pool = BlockPool(2, 2)
    tree = PrefixTree(pool, AttentionWindow(2, 64))
    horizon = CacheHorizon(tree)
    for now in range(2 * MOST_NOTES):
        use(tree, pool, (1, 2))
        horizon.note(float(now))
    assert horizon.time is None
    assert len(horizon._notes) == MOST_NOTES
