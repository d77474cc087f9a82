"""Blocks of keys and values that leave one engine and enter another.

What is exchanged is whole blocks of a prefix, which both engines find by its tokens in their prefix
trees (as MemServe's pools do, Hu et al. 2024). A request whose blocks have arrived therefore needs
no way of its own: the scheduler admits it like any other, and its prefix is cached.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from maskwright.engine.kv.prefix import Node
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.tables import Tables
from maskwright.engine.step.runner import Runner
from maskwright.immutable import Immutable


@dataclass(frozen=True, slots=True)
class KvLayout:
    """What two engines must have in common for blocks of one to be of use to the other.

    - `weights`: the digest of the model's weights.
    - `kind`: the name of the model, its data type, and how its keys and values are stored.
    - `block_size`: positions in a block; `layers`: layers of the model; `layer_bytes`: bytes of one
      layer of a block.
    """

    weights: str
    kind: tuple[str, ...]
    block_size: int
    layers: int
    layer_bytes: int


class KvPrefix(Immutable):
    """Tokens whose keys and values are exchanged, a whole number of blocks, and the salt under
    which the prefix tree has them."""

    salt: Hashable
    tokens: SequenceOf[int]


class BlockExchange:
    """The side of one engine. All methods must be called between two steps, by the thread that runs
    them."""

    def __init__(self, tables: Tables, runner: Runner) -> None:
        self._tables = tables
        self._runner = runner

    def lacking(self, prefix: KvPrefix) -> list[int]:
        """The numbers of the blocks of `prefix`, counted from 0, that a sequence which continues
        it has to read and the tree does not have. None without a tree, since then nothing
        can be received."""
        if self._tables.tree is None:
            return []
        size = self._tables.pool.block_size
        count = len(prefix.tokens) // size
        nodes = self._tables.tree.along(prefix.salt, prefix.tokens)
        first = self._tables.attention_window.blocks_outside(count * size)
        return [i for i in range(first, count) if i >= len(nodes) or not nodes[i].block]

    def read(self, prefix: KvPrefix, numbers: SequenceOf[int]) -> dict[int, NDArray[np.uint8]]:
        """The contents, uint8 `[layers, bytes]`, of those blocks of `prefix` among `numbers` that
        the tree has."""
        if self._tables.tree is None:
            return {}
        nodes = self._tables.tree.along(prefix.salt, prefix.tokens)
        there = [i for i in numbers if i < len(nodes) and nodes[i].block]
        if not there:
            return {}
        contents = self._runner.read_blocks([nodes[i].block for i in there])
        return dict(zip(there, contents, strict=True))

    def write(self, prefix: KvPrefix, contents: Mapping[int, NDArray[np.uint8]]) -> int:
        """Insert blocks of `prefix` into the tree, by their numbers, as far as they connect with
        what is there and as the pool has room without a preemption. Returns the number of leading
        blocks after which a sequence can go on from the tree."""
        tables = self._tables
        if tables.tree is None:
            return 0
        size, nodes = tables.pool.block_size, tables.tree.along(prefix.salt, prefix.tokens)
        count = self._reach(prefix, contents, nodes)
        if not count:
            return 0
        tokens = list(prefix.tokens[: count * size])
        # The last token of a sequence is never taken from the tree, so one more is appended.
        carrier = Sequence(0, [*tokens, 0], len(tokens), len(tokens) + 1, salt=prefix.salt)
        tables.begin(carrier)
        taken = tables.take_in(carrier)
        if taken:
            whole = np.stack([contents[number] for number in taken])
            self._runner.write_blocks(list(taken.values()), whole)
        tables.settle(carrier)
        tables.let_go(carrier)
        return count

    def _reach(
        self, prefix: KvPrefix, contents: Mapping[int, NDArray[np.uint8]], nodes: list[Node]
    ) -> int:
        """The most leading blocks such that all blocks read after them are in the tree or among
        `contents`, and there is room."""
        pool, window = self._tables.pool, self._tables.attention_window
        size = pool.block_size
        cached = [i < len(nodes) and nodes[i].block > 0 for i in range(len(prefix.tokens) // size)]
        allocated = list(accumulate((not there for there in cached), initial=0))
        # Blocks that only the tree holds can be evicted, but not this prefix's.
        room = pool.available - sum(pool.only_cached(node.block) for node in nodes if node.block)
        unbroken = most = 0
        for count, there in enumerate(cached, 1):
            unbroken = unbroken + 1 if there or count - 1 in contents else 0
            first = window.blocks_outside(count * size)
            if unbroken >= count - first and allocated[count] - allocated[first] <= room:
                most = count
        return most
