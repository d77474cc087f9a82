"""The prefix tree against a set of prefixes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.kv.prefix import Node, PrefixTree, common
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Sequence
from tests.engine.schedule.test_scheduler import advance

SIZE = 2


def prefixes(tokens: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every whole number of blocks, from the first on."""
    return [tokens[:end] for end in range(SIZE, len(tokens) + 1, SIZE)]


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_is_found_is_what_was_put_in_and_not_given_up(rng: random.Random) -> None:
    """Texts over two letters come, stay a while and go; the model is a dictionary from each cached
    prefix to the time of its last use."""
    pool = BlockPool(12, SIZE)
    tree = PrefixTree(pool, AttentionWindow(SIZE, 64))
    known: dict[tuple[str, tuple[int, ...]], int] = {}
    here: list[tuple[str, tuple[int, ...], Node, list[int]]] = []
    clock = 0
    for _ in range(rng.randint(1, 40)):
        if here and rng.random() < 0.4:
            salt, text, node, table = here.pop(rng.randrange(len(here)))
            pool.release(table)
            tree.leave(node)
            clock += 1
            known |= {(salt, prefix): clock for prefix in prefixes(text)}
        else:
            salt, length = rng.choice("ab"), 2 * rng.randint(1, 4)
            text = tuple(rng.randint(0, 1) for _ in range(length))
            node = tree.match(salt, text, length)
            cached = [prefix for prefix in prefixes(text) if (salt, prefix) in known]
            assert node.depth == len(cached)
            table = tree.path(node)
            pool.share(table)
            clock += 1
            known |= {(salt, prefix): clock for prefix in cached}
            new = prefixes(text)[node.depth :]
            if len(new) > pool.available:
                pool.release(table)
                tree.leave(node)
                clock += 1
                known |= {(salt, prefix): clock for prefix in cached}
                continue
            used = {(salt, p) for salt, t, _, _ in here for p in prefixes(t)}
            used |= {(salt, prefix) for prefix in cached}
            for _ in range(len(new) - pool.free):
                leaves = [
                    (stamp, key)
                    for key, stamp in known.items()
                    if key not in used
                    and not any(k[0] == key[0] and k[1][: len(key[1])] == key[1]
                                and k != key for k in known)
                ]  # fmt: skip
                tree.evict(1)
                gone = {key for _, key in leaves if not held(tree, *key)}
                assert len(gone) == 1, "not a leaf that nobody uses"
                (victim,) = gone
                assert known.pop(victim) == min(leaves)[0], "not the one longest unused"
            for prefix in new:
                (block,) = pool.allocate(1)
                table.append(block)
                node = tree.insert(node, prefix[-SIZE:], block)
                known[salt, prefix] = node.stamp
            here.append((salt, text, node, table))
        pool.check([table for *_, table in here], tree.blocks())
        tree.check()
        assert sorted(known) == sorted(k for k in known if held(tree, *k))


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([1, 3, 4]))
def test_with_a_window_a_hit_needs_only_what_it_reaches(rng: random.Random, window: int) -> None:
    """Texts come, let go of what is behind them, and go; the model is the set of cached prefixes,
    and the longest of a text that has all blocks within reach is what is found."""
    pool, attention_window = BlockPool(12, SIZE), AttentionWindow(SIZE, 8, window)
    tree = PrefixTree(pool, attention_window)
    known: dict[int, tuple[int, ...]] = {}  # by block
    here: list[tuple[Node, list[int]]] = []
    for _ in range(rng.randint(1, 40)):
        if here and rng.random() < 0.4:
            node, table = here.pop(rng.randrange(len(here)))
            pool.release(table[attention_window.blocks_outside(len(table) * SIZE) :])
            tree.leave(node)
            continue
        text = tuple(rng.randint(0, 1) for _ in range(2 * rng.randint(1, 5)))
        node = tree.match("", text, len(text))
        assert node.depth == max(
            end // SIZE
            for end in range(0, len(text) + 1, SIZE)
            if set(prefixes(text[:end])[attention_window.blocks_outside(end) :])
            <= set(known.values())
        )
        table, outside = tree.path(node), attention_window.blocks_outside(node.depth * SIZE)
        assert table[:outside] == [0] * outside
        assert [known[block] for block in table[outside:]] == prefixes(text)[outside : node.depth]
        pool.share(table[outside:])
        new = prefixes(text)[node.depth :]
        if len(new) > pool.available:
            pool.release(table[outside:])
            tree.leave(node)
            continue
        evicted = max(0, len(new) - pool.free)
        tree.evict(evicted)
        left = set(tree.blocks())
        assert len(known) - len(left) == evicted, "as many as asked, and none in use"
        known = {block: prefix for block, prefix in known.items() if block in left}
        for prefix in new:
            (block,) = pool.allocate(1)
            node = tree.insert(node, prefix[-SIZE:], block)
            if node.block == block:
                known[block] = prefix
            else:
                pool.share([node.block])
                pool.release([block])
            table.append(node.block)
        last = attention_window.blocks_outside(len(text))
        pool.release(table[outside:last])
        tree.release_range(node, outside, last)
        here.append((node, table))
        pool.check(
            [t[attention_window.blocks_outside(len(t) * SIZE) :] for _, t in here], tree.blocks()
        )
        tree.check()


def held(tree: PrefixTree, salt: str, prefix: tuple[int, ...]) -> bool:
    return tree.match(salt, prefix, len(prefix)).depth * SIZE == len(prefix)


def test_roots_without_children_go() -> None:
    tree = PrefixTree(BlockPool(4, SIZE), AttentionWindow(SIZE, 64))
    for number in range(1000):
        tree.match(f"client {number}", (1, 2), 2)
    assert len(tree._roots) < 100


@pytest.mark.parametrize(
    ("one", "other", "count"), [((), (), 0), ((1, 2), (1, 2, 3), 2), ((1, 9), (1, 2), 1)]
)
def test_common(one: tuple[int, ...], other: tuple[int, ...], count: int) -> None:
    assert common(one, other) == common(other, one) == count


def saved(texts: list[list[int]]) -> int:
    """The oracle: tokens of each text but its last that some text before began with."""
    return sum(
        max((min(common(text, before), len(text) - 1) for before in texts[:number]), default=0)
        for number, text in enumerate(texts)
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=20), min_size=1, max_size=12))
def test_tokens_saved_are_those_of_a_trie(texts: list[list[int]]) -> None:
    """One after the other, and nothing given up: every token that an earlier prompt began with is
    found, to the token, but for the end of a prompt that never filled its block."""
    scheduler = Scheduler(BlockPool(400, 4), max_running=4, max_batch_tokens=64)
    whole: list[list[int]] = []
    for number, text in enumerate(texts):
        sequence = Sequence(number, list(text), len(text), len(text) + 1)
        scheduler.add(sequence)
        while not scheduler.idle:
            advance(scheduler, scheduler.plan())
            scheduler.check()
        computed = len(text) // 4 * 4
        expected = saved([*whole, text]) - saved(whole)
        assert sequence.cached_tokens == expected
        whole.append(text[:computed])
    assert scheduler.tree is not None
    assert scheduler.tree.hits == sum(
        saved([*whole[:n], texts[n]]) - saved(whole[:n]) for n in range(len(texts))
    )


def test_twins_are_computed_once() -> None:
    """Eight requests with one prompt, at once: seven wait for the first to compute what they have
    in common, take it, copy the block that they go on in, and compute one token each."""
    pool = BlockPool(99, 16)
    scheduler = Scheduler(pool, max_running=8, max_batch_tokens=64)
    prompt = list(range(150))
    for number in range(8):
        scheduler.add(Sequence(number, list(prompt), 150, 160))
    computed, copies = 0, 0
    while computed < 157:
        plan = scheduler.plan()
        computed += plan.totals.tokens
        copies += len(plan.copies)
        scheduler.commit(plan)
        scheduler.check()
        if computed == 150:
            scheduler.confirm(scheduler.running[0], [7])
    assert (computed, copies) == (157 + 1, 7)
    assert pool.used == 9 + 8, "nine blocks for all, and one each to write in"
