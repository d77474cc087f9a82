"""What the engine holds at a moment: blocks, cached prefixes, queues and live requests.

It is read by other threads while the engine's thread works. Each list is copied in one operation of
the interpreter, so that no reader fails; lists may differ from each other by what happened in
between. Work is bounded however large the pool is.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence as SequenceOf
from typing import Final

import numpy as np

from maskwright.engine.kv.prefix import Node, PrefixTree
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.service import ServiceClass
from maskwright.immutable import Immutable

LETTERS: Final = ".cus"
MOST_CELLS: Final = 2048
MOST_SPANS: Final = 256
MOST_NODES: Final = 10_000
MOST_REQUESTS: Final = 64


class BlockMap(Immutable):
    """The pool as a row of cells of `blocks_per_cell` blocks each. A cell's letter is the state of
    most of its blocks: `.` free, `c` cached, `u` used by one request, `s` shared by several."""

    total: int
    block_size: int
    blocks_per_cell: int
    cells: str


class PrefixSpan(Immutable):
    """A run of cached blocks without a branch. `parent`: the index of the span that it continues,
    -1 for the beginning of a text. `holders`: requests that hold its first block now."""

    parent: int
    blocks: int
    holders: int


class ClassCount(Immutable):
    """How many requests of one class of service run, wait and are paused."""

    name: str
    running: int
    waiting: int
    paused: int


class LiveRequest(Immutable):
    """A request that runs or is paused. `tokens`: as many as prompt and answer have so far;
    `computed` of them are in `blocks` blocks."""

    id: int
    service: str
    state: str
    prompt_tokens: int
    tokens: int
    computed: int
    blocks: int
    preemptions: int


class EngineView(Immutable):
    """All of it. `spans_left_out`: whether the prefix tree has more spans than are listed."""

    blocks: BlockMap
    prefix: tuple[PrefixSpan, ...]
    spans_left_out: bool
    classes: tuple[ClassCount, ...]
    live: tuple[LiveRequest, ...]


def view_scheduler(scheduler: Scheduler, classes: SequenceOf[ServiceClass]) -> EngineView:
    """Return what a scheduler holds, from any thread."""
    running, paused = scheduler.running[:], scheduler.paused[:]
    waiting = scheduler.waiting.counts()
    spans, left_out = ([], False) if scheduler.tree is None else prefix_spans(scheduler.tree)
    ran, slept = (Counter(one.rank for one in group) for group in (running, paused))
    counts = [
        ClassCount(item.name, ran[rank], waiting[rank], slept[rank])
        for rank, item in enumerate(classes)
    ]
    shown = [("running", one) for one in running] + [("paused", one) for one in paused]
    return EngineView(
        block_map(scheduler),
        tuple(spans),
        left_out,
        tuple(counts),
        tuple(
            LiveRequest(
                id=one.arrival,
                service=classes[one.rank].name,
                state=state,
                prompt_tokens=one.prompt_length,
                tokens=len(one.tokens),
                computed=one.computed,
                blocks=len(one.table) - one.outside_window,
                preemptions=one.preemptions,
            )
            for state, one in shown[:MOST_REQUESTS]
        ),
    )


def block_map(scheduler: Scheduler) -> BlockMap:
    """Return the map of the pool's blocks."""
    pool = scheduler.pool
    states = pool.states()
    size = -(-pool.total // MOST_CELLS)
    letters = np.frombuffer(states.ljust(-(-len(states) // size) * size).encode(), np.uint8)
    runs = letters.reshape(-1, size)
    counts = np.stack([(runs == ord(letter)).sum(axis=1) for letter in LETTERS])
    # Of most blocks of each cell; the first of `LETTERS` among equals.
    most = np.frombuffer(LETTERS.encode(), np.uint8)[counts.argmax(axis=0)]
    return BlockMap(pool.total, pool.block_size, size, most.tobytes().decode())


def prefix_spans(tree: PrefixTree) -> tuple[list[PrefixSpan], bool]:
    """Return the spans of a prefix tree, level by level, and whether there are more of them."""
    spans: list[PrefixSpan] = []
    queue: deque[tuple[Node, int]] = deque(
        (child, -1) for root in tree.roots() for child in list(root.children.values())
    )
    seen = 0
    while queue and len(spans) < MOST_SPANS and seen < MOST_NODES:
        node, parent = queue.popleft()
        holders, blocks = tree.holders(node), 1
        while len(children := list(node.children.values())) == 1 and seen + blocks < MOST_NODES:
            node = children[0]
            blocks += 1
        seen += blocks
        queue.extend((child, len(spans)) for child in children)
        spans.append(PrefixSpan(parent, blocks, holders))
    return spans, bool(queue)
