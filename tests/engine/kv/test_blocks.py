"""The block pool keeps its books under any order of use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.kv.blocks import BlockPool

ACTIONS = ["take", "share", "find", "drop", "cache", "evict"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 9)), min_size=20))
def test_books_hold_under_any_use(actions: list[tuple[str, int]]) -> None:
    pool = BlockPool(12, 16)
    tables: list[list[int]] = []
    tree: list[int] = []
    for action, number in actions:
        if action == "take" and number <= pool.free:
            tables.append(pool.allocate(number))
        elif action == "share" and tables:
            table = tables[number % len(tables)]
            pool.share(table)
            tables.append(list(table))
        elif action == "find" and tree:
            found = tree[: number + 1]  # a new request finds its prompt's beginning in the tree
            pool.share(found)
            tables.append(found)
        elif action == "drop" and tables:
            pool.release(tables.pop(number % len(tables)))
        elif action == "cache" and tables:
            for block in set(tables[number % len(tables)]) - set(tree):
                pool.adopt(block)
                tree.append(block)
        elif action == "evict":
            for block in [block for block in tree if pool.only_cached(block)][:number]:
                pool.disown(block)
                tree.remove(block)
        pool.check(tables, tree)
        used = {block for table in tables for block in table}
        assert pool.used == len(used)
        assert pool.cached == len(set(tree) - used)
        assert pool.available == pool.total - pool.used


def test_a_cached_block_that_is_found_is_used_again() -> None:
    """It is counted once, so that no more is promised than there is."""
    pool = BlockPool(4, 16)
    table = pool.allocate(3)
    for block in table:
        pool.adopt(block)
    pool.release(table)
    assert (pool.used, pool.cached, pool.available) == (0, 3, 4)
    pool.share(table[:2])
    assert (pool.used, pool.cached, pool.available) == (2, 1, 2)
    pool.share(table[:2])
    pool.release(table[:2])
    assert (pool.used, pool.cached, pool.available) == (2, 1, 2)
    pool.release(table[:2])
    assert (pool.used, pool.cached, pool.available) == (0, 3, 4)


@pytest.mark.parametrize(("positions", "blocks"), [(0, 0), (1, 1), (16, 1), (17, 2)])
def test_needed(positions: int, blocks: int) -> None:
    assert BlockPool(4, 16).needed(positions) == blocks


def test_misuse_is_caught() -> None:
    pool = BlockPool(2, 16)
    block = pool.allocate(1)
    pool.release(block)
    with pytest.raises(AssertionError, match="double free"):
        pool.release(block)
    with pytest.raises(AssertionError, match="sharing"):
        pool.share(block)
    with pytest.raises(AssertionError, match="beyond"):
        pool.allocate(3)
    with pytest.raises(AssertionError, match="caching a free"):
        pool.adopt(1)
    (held,) = pool.allocate(1)
    pool.adopt(held)
    with pytest.raises(AssertionError, match="twice"):
        pool.adopt(held)
    with pytest.raises(AssertionError, match="in use"):
        pool.disown(held)
    with pytest.raises(AssertionError, match="holders"):
        pool.check([[held, 2]], [held])
    with pytest.raises(AssertionError, match="marked"):
        pool.check([[held]])
