"""The block tables of sequences: what is allocated, shared, cached, copied and released."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

import pytest

from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.schedule.plan import BlockCopy, CopyDirection, PlanBuilder
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.tables import Tables
from tests.engine.step.late_copies import LateEvent

SIZE = 4


class Books:
    """Tables over small pools, whose invariants are checked after every step of a test."""

    def __init__(
        self,
        *,
        blocks: int = 8,
        host: int = 8,
        window: int | None = None,
        cache: bool = True,
        beside_steps: bool = False,
    ) -> None:
        attention_window = AttentionWindow(SIZE, 8, window)
        self.pool, self.host = BlockPool(blocks, SIZE), BlockPool(host, SIZE)
        self.tables = Tables(
            *(self.pool, self.host, attention_window),
            prefix_cache=cache,
            beside_steps=beside_steps,
        )
        self.live: list[Sequence] = []

    def add(self, tokens: Iterable[int], **fields: object) -> Sequence:
        """A new sequence, with the cached blocks of its prompt."""
        prompt = list(tokens)
        new = Sequence(len(self.live), prompt, len(prompt), 99, **fields)  # type: ignore[arg-type]
        self.live.append(new)
        self.tables.begin(new)
        new.computed = len(new.table) * SIZE
        self.check()
        return new

    def compute(self, sequence: Sequence, upto: int | None = None) -> PlanBuilder:
        """Allocate what is missing and compute the sequence up to a position."""
        step = PlanBuilder(99)
        upto = len(sequence.tokens) if upto is None else upto
        missing = self.tables.missing(sequence, upto - sequence.computed)
        self.tables.grow(sequence, missing, step)
        sequence.computed = upto
        self.tables.settle(sequence)
        self.check()
        return step

    def swap_out(self, sequence: Sequence) -> PlanBuilder:
        step = PlanBuilder(99)
        self.tables.swap_out(sequence, step)
        self.tables.let_go(sequence)
        self.check()
        return step

    def swap_in(self, sequence: Sequence) -> PlanBuilder:
        step = PlanBuilder(99)
        self.tables.begin(sequence)
        sequence.computed = len(sequence.table) * SIZE
        self.tables.swap_in(sequence, step)
        self.check()
        return step

    def check(self) -> None:
        self.tables.check(self.live)


@pytest.mark.parametrize(
    ("computed", "held", "count", "missing"),
    [(0, 0, 1, 1), (0, 0, 4, 1), (0, 0, 5, 2), (3, 1, 1, 0), (4, 1, 1, 1), (4, 2, 4, 0)],
)
def test_missing_blocks(computed: int, held: int, count: int, missing: int) -> None:
    books = Books()
    sequence = Sequence(1, [0] * 20, 20, 99, computed=computed, table=list(range(1, held + 1)))
    assert books.tables.missing(sequence, count) == missing


@pytest.mark.parametrize(("tokens", "to_come"), [(1, 1), (3, 1), (4, 2), (7, 2), (8, 3)])
def test_blocks_to_come_have_room_for_one_more_token(tokens: int, to_come: int) -> None:
    books = Books()
    sequence = books.add(range(tokens))
    assert books.tables.to_come(sequence) == to_come
    books.compute(sequence)
    assert books.tables.to_come(sequence) == (1 if tokens % SIZE == 0 else 0)


def test_new_blocks_are_cleared_and_shared_ones_are_not() -> None:
    books = Books()
    first = books.add(range(10))
    assert books.compute(first).fresh == first.table == [1, 2, 3]
    second = books.add(range(10))
    assert second.table == [1, 2], "full blocks alone"
    assert books.compute(second).fresh == [second.table[2]] == [4]


CACHED: list[tuple[list[int], int]] = [
    # a prompt after one of the tokens 0 … 8, and how many of its tokens are cached
    ([*range(9)], 8),
    ([*range(8)], 4),  # the last token is always computed, for its logits
    ([*range(12)], 8),
    ([0, 1, 2, 3, 9, 9, 9, 9, 9], 4),
    ([0, 1, 2, 9, 9, 9], 0),
    ([0, 1, 2], 0),
]


@pytest.mark.parametrize(("prompt", "cached"), CACHED, ids=str)
def test_a_prompt_finds_its_cached_beginning(prompt: list[int], cached: int) -> None:
    books = Books()
    books.compute(books.add(range(9)))
    waiting = Sequence(9, prompt, len(prompt), 99)
    assert books.tables.cached(waiting) == cached
    assert books.add(prompt).computed == cached


@pytest.mark.parametrize("cache", [True, False])
def test_nothing_is_found_under_another_salt_or_without_a_cache(cache: bool) -> None:
    books = Books(cache=cache)
    books.compute(books.add(range(9), salt="one"))
    for salt, found in (("one", 8 if cache else 0), ("other", 0)):
        waiting = Sequence(9, [*range(9)], 9, 99, salt=salt)
        assert books.tables.cached(waiting) == found


def test_released_blocks_stay_cached_until_they_are_needed() -> None:
    books = Books(blocks=4)
    old = books.add(range(9))
    books.compute(old)
    books.tables.release(old)
    books.check()
    assert (books.pool.used, books.pool.cached, books.pool.free) == (0, 2, 2)
    books.compute(books.add(range(100, 112)))
    assert (books.pool.cached, books.pool.free) == (1, 0), "one was evicted, the end first"
    assert books.tables.cached(Sequence(9, [*range(9)], 9, 99)) == 4


def test_equal_blocks_that_were_computed_twice_become_one() -> None:
    books = Books()
    one, other = books.add(range(9)), books.add(range(9))
    books.compute(one)
    assert other.table == []
    books.compute(other)
    assert one.table[:2] == other.table[:2]
    assert one.table[2] != other.table[2], "a block that is not full is one's own"
    assert books.pool.used == 4


@pytest.mark.parametrize(
    ("shared", "loss"),
    [
        (False, 10 / 3),  # 10 tokens to compute again for 3 blocks
        (True, 2.0),  # 2 blocks are another's too: 2 tokens for 1 block
    ],
)
def test_what_a_preemption_costs(shared: bool, loss: float) -> None:
    books = Books()
    sequence = books.add(range(10))
    books.compute(sequence)
    if shared:
        books.compute(books.add(range(9)), 9)
    assert books.tables.loss(sequence) == pytest.approx(loss)


def test_a_preemption_that_frees_nothing_is_never_worth_it() -> None:
    books = Books()
    assert books.tables.loss(books.add(range(3))) == math.inf
    books.compute(books.add(range(9)))
    sharing = books.add(range(9))
    assert len(sharing.table) == 2
    assert books.tables.loss(sharing) == math.inf


def test_swapping_out_and_in_copies_each_block_there_and_back() -> None:
    books = Books(cache=False)
    sequence = books.add(range(10))
    books.compute(sequence)
    out = [(copy.source, copy.target) for copy in books.swap_out(sequence).copies]
    assert [source for source, _ in out] == [1, 2, 3]
    assert sequence.host == [target for _, target in out]
    assert (sequence.saved, sequence.table, books.pool.used) == (10, [], 0)
    assert books.tables.to_come_back(sequence) == 3
    back = books.swap_in(sequence).copies
    assert back == [
        BlockCopy(CopyDirection.IN, source, target)
        for source, target in zip((home for _, home in out), sequence.table, strict=True)
    ]
    assert sequence.computed == 9, "the last token is computed again, for its logits"
    assert (sequence.host, sequence.saved, books.host.used) == ([], 0, 0)


def test_blocks_that_are_still_cached_are_not_copied_back() -> None:
    books = Books()
    sequence = books.add(range(10))
    books.compute(sequence)
    books.swap_out(sequence)
    step = books.swap_in(sequence)
    assert [copy.direction for copy in step.copies] == [CopyDirection.IN]
    assert (len(sequence.table), sequence.computed) == (3, 9)


@pytest.mark.parametrize(
    ("tokens", "computed", "back"),
    [(15, 14, 14), (13, 13, 12)],  # the last token again, when more has left the window already
)
def test_blocks_outside_the_window_are_not_copied(tokens: int, computed: int, back: int) -> None:
    books = Books(window=4, cache=False)
    sequence = books.add(range(tokens))
    books.compute(sequence, computed)
    assert sequence.table[:2] == [0, 0]
    assert len(books.swap_out(sequence).copies) == 2
    assert sequence.host[:2] == [0, 0]
    assert books.tables.to_come_back(sequence) == 2
    step = books.swap_in(sequence)
    assert sequence.table[:2] == [0, 0]
    assert all(sequence.table[2:])
    assert len(step.copies) == len(sequence.table) - 2
    assert (sequence.computed, sequence.outside_window) == (back, 2)


def test_releasing_a_swapped_sequence_frees_the_host() -> None:
    books = Books()
    sequence = books.add(range(10))
    books.compute(sequence)
    books.swap_out(sequence)
    assert books.host.used == 3
    books.tables.release(sequence)
    books.check()
    assert (books.host.used, sequence.host, sequence.saved) == (0, [], 0)


@pytest.mark.parametrize("cache", [True, False])
def test_blocks_that_have_left_the_window_are_released(cache: bool) -> None:
    books = Books(window=4, cache=cache)  # five positions are kept
    sequence = books.add(range(20))
    for computed, outside in ((5, 0), (8, 0), (9, 1), (12, 1), (13, 2), (20, 3)):
        books.compute(sequence, computed)
        assert sequence.outside_window == outside
        assert sequence.table[:outside] == [0] * outside
        assert all(sequence.table[outside:])
        assert books.pool.used == len(books.tables.held(sequence))
        assert books.pool.cached == (outside if cache else 0)


COPIED: list[tuple[list[int], int, int]] = [
    # a prompt after one of the tokens 0 … 7; tokens cached, and how many more a copy brings
    ([0, 1, 9, 9, 9], 0, 2),
    ([0, 1, 2, 3, 4, 5, 9, 9], 4, 2),
    ([0, 1, 2, 3, 4, 5, 6, 7], 4, 3),  # all but the last token
    ([0, 1, 2, 3, 9, 9], 4, 0),
    ([9, 9, 9], 0, 0),
]


@pytest.mark.parametrize(("prompt", "cached", "more"), COPIED, ids=str)
def test_a_block_that_begins_alike_is_copied(prompt: list[int], cached: int, more: int) -> None:
    books = Books()
    old = books.add(range(8))
    books.compute(old)
    origin = old.table[cached // SIZE]
    new, step = books.add(prompt), PlanBuilder(99)
    assert new.computed == cached
    books.tables.copy_beginning(new, [old], step)
    books.check()
    assert new.computed == cached + more
    assert step.copies == ([BlockCopy(CopyDirection.WITHIN, origin, new.table[-1])] if more else [])


RUNNING: list[tuple[list[int], list[int], int]] = [
    # the tokens of a running sequence, computed but for one; of a new one; how many this gets
    ([*range(7)], [0, 1, 2, 3, 4, 5, 6, 9], 6),  # no further than the other one is computed
    ([*range(7)], [0, 1, 2, 3, 4, 5], 5),  # all but its own last token
    ([*range(7)], [0, 1, 2, 3, 4, 9, 9], 5),
    ([9, 9, 9, 9, 4, 5, 6], [0, 1, 2, 3, 4, 5, 8], 4),  # after another text
]


@pytest.mark.parametrize(("running", "tokens", "computed"), RUNNING)
def test_the_last_block_of_a_running_sequence_is_copied_too(
    running: list[int], tokens: list[int], computed: int
) -> None:
    books = Books()
    books.compute(books.add(range(4)))
    other = books.add(running)
    books.compute(other, 6)
    new, step = books.add(tokens), PlanBuilder(99)
    assert new.computed == 4
    books.tables.copy_beginning(new, [other, new], step)
    books.check()
    assert new.computed == computed
    copies = [BlockCopy(CopyDirection.WITHIN, other.table[1], new.table[-1])]
    assert step.copies == (copies if computed > 4 else [])


def test_nothing_is_copied_where_no_block_is_free() -> None:
    books = Books(blocks=2)
    books.compute(books.add(range(8)))
    new, step = books.add([0, 1, 9]), PlanBuilder(99)
    books.tables.copy_beginning(new, [], step)
    assert (new.computed, step.copies) == (0, [])


def test_who_computes_the_block_that_another_waits_for() -> None:
    """A waiting sequence waits for the block that a running one is about to fill."""
    books = Books()
    running = books.add(range(9))
    waiting = Sequence(9, [*range(8), 77], 9, 99)
    assert books.tables.next_block(running) == books.tables.following(waiting)
    books.compute(running, 4)
    assert books.tables.next_block(running) == books.tables.following(waiting)
    books.compute(running, 8)
    assert books.tables.next_block(running) is None, "its last block will not be full"
    assert books.tables.following(waiting) is None, "and neither will the other's"


def test_blocks_that_are_just_full() -> None:
    """A running sequence fills its last block; a waiting one computes its last token anyway."""
    books = Books()
    running = books.add(range(8))
    books.compute(running, 4)
    assert books.tables.next_block(running) is not None
    assert books.tables.following(Sequence(9, [*range(8)], 8, 99)) is None
    waiting = Sequence(9, [*range(9)], 9, 99)
    assert books.tables.following(waiting) == books.tables.next_block(running)


DIFFERENT: list[Sequence] = [
    Sequence(9, [*range(9)], 9, 99, rank=1),
    Sequence(9, [*range(9)], 9, 99, salt="other"),
    Sequence(9, [0, 1, 2, 9, 4, 5, 6, 7, 8], 9, 99),
]


@pytest.mark.parametrize("waiting", DIFFERENT)
def test_nobody_waits_for_the_block_of_another_class_salt_or_text(waiting: Sequence) -> None:
    books = Books()
    running = books.add(range(9))
    expected = books.tables.following(waiting)
    assert expected is not None
    assert books.tables.next_block(running) != expected


def test_without_a_cache_nobody_waits_for_a_block() -> None:
    books = Books(cache=False)
    running = books.add(range(9))
    assert books.tables.next_block(running) is None
    assert books.tables.following(Sequence(9, [*range(9)], 9, 99)) is None


def test_blocks_are_free_when_copies_beside_steps_have_ended() -> None:
    """Also where the sequence has ended meanwhile, in both pools."""
    books = Books(cache=False, beside_steps=True)
    sequence = books.add(range(10))
    books.compute(sequence)
    step = books.swap_out(sequence)
    assert step.copies == []
    [transfer] = step.transfers
    assert sequence.transfer is transfer
    assert [source for source, _ in transfer.pairs] == [1, 2, 3]
    assert (books.pool.free, books.tables.transfers.leaving()) == (5, 3)
    assert books.tables.collect() == [], "they haven't begun"
    transfer.event = event = LateEvent(None, 0.0, random.Random(0))
    books.tables.release(sequence)
    assert books.tables.collect() == [], "they go on"
    books.check()
    assert (books.pool.free, books.host.free) == (5, 5)
    event.wait()
    assert books.tables.collect() == [transfer]
    books.check()
    assert (books.pool.free, books.host.free, books.tables.transfers.leaving()) == (8, 8, 0)
    assert sequence.transfer is None


def test_blocks_that_others_hold_do_not_leave() -> None:
    books = Books(beside_steps=True)
    sequence = books.add(range(10))
    books.compute(sequence)
    sharing = books.add(range(9))
    [transfer] = books.swap_out(sequence).transfers
    assert transfer.blocks == [1, 2, 3]
    assert books.tables.transfers.leaving() == 1
    books.tables.let_go(sharing)
    assert books.tables.transfers.leaving() == 3
    assert books.pool.cached == 0, "none is evicted before its copy has ended"
    transfer.event = LateEvent(None, 1.0, random.Random(0))
    books.tables.collect()
    books.check()
    assert (books.pool.free, books.pool.cached) == (6, 2)


def test_blocks_come_to_the_tree_when_their_copies_have_ended() -> None:
    """Nobody is given one before, nor continues in a copy of one."""
    books = Books(blocks=4, beside_steps=True)
    sequence = books.add(range(10))
    books.compute(sequence)
    [out] = books.swap_out(sequence).transfers
    out.event = LateEvent(None, 1.0, random.Random(0))
    books.tables.collect()
    assert books.tables.tree is not None
    books.tables.tree.evict(books.pool.cached)
    [back] = books.swap_in(sequence).transfers
    assert (sequence.transfer, sequence.computed, sequence.decodes) == (back, 9, False)
    assert (books.host.used, books.tables.transfers.leaving()) == (3, 0)
    other = Sequence(1, [*range(10)], 10, 99)
    assert books.tables.cached(other) == 0
    step = PlanBuilder(99)
    books.tables.copy_beginning(other, [sequence], step)
    assert step.copies == other.table == []
    back.event = LateEvent(None, 1.0, random.Random(0))
    books.tables.collect()
    books.check()
    assert (sequence.transfer, books.tables.cached(other), books.host.used) == (None, 8, 0)


def test_what_comes_back_for_a_sequence_that_has_let_go_is_dropped() -> None:
    books = Books(beside_steps=True, cache=False)
    sequence = books.add(range(10))
    books.compute(sequence)
    [out] = books.swap_out(sequence).transfers
    books.tables.let_go(sequence)
    assert sequence.transfer is out, "it isn't admitted before its blocks are out"
    out.event = LateEvent(None, 1.0, random.Random(0))
    books.tables.collect()
    [back] = books.swap_in(sequence).transfers
    books.tables.let_go(sequence)
    assert (sequence.transfer, sequence.computed, books.pool.free) == (None, 0, 5)
    back.event = LateEvent(None, 1.0, random.Random(0))
    books.tables.collect()
    books.check()
    assert (sequence.computed, sequence.table, books.pool.free) == (0, [], 8)
