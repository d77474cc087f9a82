"""Moves blocks between the pool and the stores outside it, between two steps.

- What the prefix tree evicts is kept in the stores.
- When the turn of a waiting sequence comes and the stores have more of its prefix than the tree, it
  waits until those blocks are back in the tree, if getting them takes less time than computing
  them. It is then admitted like any other sequence.
- The prefixes of sequences that have ended are also written to disk, where other servers find them.

While sequences decode, each step moves only as many blocks as lengthen it by `SHARE`.
"""

from __future__ import annotations

import platform
import time
from collections import deque
from collections.abc import Callable, Iterator
from collections.abc import Sequence as SequenceOf
from importlib.metadata import version
from typing import Final

import numpy as np
import torch

from maskwright.engine.config import EngineConfig
from maskwright.engine.kv.block_keys import next_key
from maskwright.engine.kv.prefix import Node, PrefixTree
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.step_time import StepTimeModel, moving_mean
from maskwright.engine.schedule.tables import Tables
from maskwright.engine.step.exchange import BlockExchange, KvPrefix
from maskwright.engine.step.runner import Runner
from maskwright.engine.tiers.disk_folder import DiskFolder
from maskwright.engine.tiers.disk_thread import DiskThread
from maskwright.engine.tiers.fetch import Fetch
from maskwright.engine.tiers.stores import HostStore, Stores, Tier
from maskwright.instructions import INSTRUCTIONS
from maskwright.version import VERSION

SHARE: Final = 0.05
"""Upper bound on the time for moving blocks, as a share of a step that decodes."""

MOST_FETCHES: Final = 4
"""Sequences for which blocks come in at one time, which bounds the memory for them."""

MOST_WHILE_IDLE: Final = 64
"""Blocks that are moved between two steps while no sequence decodes."""

MOST_ENDED: Final = 256
"""Ended sequences whose prefixes wait to be written to disk; of further ones, the oldest are left
out until they are evicted."""

MEMORY: Final = 0.2
"""Weight of the last move in the moving average of the time for moving a block."""

DOUBT: Final = 0.5
"""Factor on the time that fetching is taken to need, each time it is judged too slow, so that it is
tried again now and then."""


class BlockTiers:
    """To be used by the engine's thread. `step_times`: what predicts the time of computing; None to
    take whatever is in the stores."""

    def __init__(
        self,
        tables: Tables,
        exchange: BlockExchange,
        runner: Runner,
        stores: Stores,
        step_times: StepTimeModel | None = None,
    ) -> None:
        assert tables.tree is not None, "what is stored is found by the prefix tree"
        self.stores = stores
        self.fetched: dict[Tier, int] = {"host": 0, "disk": 0}
        """Blocks that have come back into the pool from each store."""
        self.declined: dict[Tier, int] = {"host": 0, "disk": 0}
        """Blocks that were computed although they are stored, because that takes less time."""
        self._tables = tables
        self._tree: PrefixTree = tables.tree
        self._exchange = exchange
        self._runner = runner
        self._step_times = step_times
        self._fetches: dict[Sequence, tuple[Fetch, dict[int, Tier]]] = {}
        self._sought: dict[Sequence, int] = {}
        """The number of preemptions at which the stores were last asked for a sequence."""
        self._ended: deque[Iterator[Node]] = deque(maxlen=MOST_ENDED)
        self._land_seconds: float | None = None
        self._save_seconds: float | None = None
        self._doubt = 1.0
        tables.tree.keep = self._keep

    @property
    def waits(self) -> bool:
        """Whether blocks can be moved now: some have arrived, or are to be written to disk."""
        return self._unwritten or any(fetch.ready for fetch, _ in self._fetches.values())

    @property
    def _unwritten(self) -> bool:
        disk = self.stores.disk
        return bool(self._ended) and disk is not None and not disk.full

    def arriving(self, sequence: Sequence) -> bool:
        """Whether a waiting sequence, whose turn it is, should wait for blocks."""
        if sequence in self._fetches:
            return True
        if sequence.host or self._sought.get(sequence) == sequence.preemptions:
            return False
        found = self._find(sequence)
        if found:
            in_flight = {k for fetch, _ in self._fetches.values() for k in fetch.keys.values()}
            keys = {number: key for number, (key, _) in found.items()}
            if len(self._fetches) >= MOST_FETCHES or not in_flight.isdisjoint(keys.values()):
                return True  # and is sought again, when the others have their blocks
            fetch = Fetch(keys, whole=self._tables.attention_window.positions is not None)
            tiers: dict[int, Tier] = {number: tier for number, (_, tier) in found.items()}
            self._fetches[sequence] = fetch, tiers
            self.stores.begin(fetch, tiers)
        self._sought[sequence] = sequence.preemptions
        return bool(found)

    def forget(self, sequence: Sequence) -> None:
        """Note that a sequence has ended. To be called before it releases its blocks."""
        self._fetches.pop(sequence, None)
        self._sought.pop(sequence, None)
        if self.stores.disk is not None and sequence.node is not None:
            self._ended.append(iter(_path(sequence.node)))

    def move(self, decoding: int) -> None:
        """Move blocks that have arrived into the pool, and prefixes of ended sequences to disk;
        no more than a step with `decoding` tokens of decoding sequences allows."""
        if not self.waits:
            return
        left = self._most(decoding)
        for sequence in list(self._fetches):
            left -= self._land(sequence, left)
            if left <= 0:
                return
        self._write_through(left)

    def stop(self, *, save: bool) -> None:
        """End the thread of the stores, after it has written what waits; with `save`, also the
        prefixes of sequences that have ended, as far as its queue takes them."""
        while save and self._unwritten:
            self._write_through(MOST_WHILE_IDLE)
        self.stores.stop()

    def counts(self) -> dict[str, dict[str, int]]:
        """The numbers of each store, from any thread."""
        return {
            tier: {**numbers, "fetched": self.fetched[tier], "declined": self.declined[tier]}
            for tier, numbers in self.stores.counts().items()
        }

    def _keep(self, evicted: SequenceOf[tuple[bytes, int]]) -> None:
        """Store blocks that the tree gives up, given as digest and number. A block whose contents
        are yet to be copied into it is left out."""
        stores, unwritten = self.stores, self._tables.unwritten
        keys = {stores.key(digest): block for digest, block in evicted if block not in unwritten}
        lacking = {key: block for key, block in keys.items() if self._to_keep(key)}
        if lacking:
            contents = self._runner.read_blocks(list(lacking.values()))
            for key, block in zip(lacking, contents, strict=True):
                stores.keep(key, block.tobytes())

    def _to_keep(self, key: bytes) -> bool:
        """Whether a block that leaves the pool has to be stored; one that is stored already counts
        as used."""
        host, disk = self.stores.host, self.stores.disk
        if host is not None:
            return host.read(key) is None
        return disk is not None and not disk.holds(key)

    # Back into the pool -------------------------------------------------------------------------

    def _find(self, sequence: Sequence) -> dict[int, tuple[bytes, Tier]]:
        """The keys and places of the blocks, by number, that a sequence should get from the stores:
        the fewest that lead to the longest prefix. None where the tree has as much, or where
        computing takes less time."""
        tables, size = self._tables, self._tables.pool.block_size
        window, count = tables.attention_window, sequence.cacheable // size
        nodes = self._tree.along(sequence.salt, sequence.tokens, count * size)
        digest = self._tree.digest(nodes[-1] if nodes else self._tree.root(sequence.salt))
        stored: dict[int, tuple[bytes, Tier]] = {}
        best = unbroken = 0
        for number in range(count):
            known = nodes[number] if number < len(nodes) else None
            there = known is not None and known.block > 0
            if not there:
                if known is None:
                    tokens = sequence.tokens[number * size : (number + 1) * size]
                    digest = next_key(digest, tokens)
                key = self.stores.key(digest if known is None else self._tree.digest(known))
                tier = self.stores.find(key)
                if tier is not None:
                    stored[number] = key, tier
                    there = True
            unbroken = unbroken + 1 if there else 0
            if unbroken > number - window.blocks_outside((number + 1) * size):
                best = number + 1
            elif window.positions is None:
                break
        cached = tables.cached(sequence)
        if best * size <= cached:
            return {}
        first = window.blocks_outside(best * size)
        found = {number: stored[number] for number in stored if first <= number < best}
        return found if self._pays(found, best * size - cached) else {}

    def _pays(self, found: dict[int, tuple[bytes, Tier]], tokens: int) -> bool:
        """Whether getting the blocks takes less time than computing `tokens` tokens; taken for
        granted until both have been measured."""
        disk, step_times = self.stores.disk, self._step_times
        computing = None if step_times is None else step_times.prompt(tokens)
        if computing is None or self._land_seconds is None:
            return True
        seconds = len(found) * self._land_seconds
        if disk is not None and disk.read_seconds is not None:
            seconds += disk.read_seconds * sum(tier == "disk" for _, tier in found.values())
        if seconds * self._doubt < computing:
            self._doubt = 1.0
            return True
        self._doubt *= DOUBT
        for _, tier in found.values():
            self.declined[tier] += 1
        return False

    def _land(self, sequence: Sequence, most: int) -> int:
        """Write blocks that have arrived for a sequence into the pool; returns their number. What
        finds no room, and what follows a block that is lost, is computed again."""
        fetch, tiers = self._fetches[sequence]
        taken = fetch.take(most)
        if taken:
            begin, layers = time.perf_counter(), self._runner.block_shape[0]
            end = max(taken) + 1
            tokens = sequence.tokens[: end * self._tables.pool.block_size]
            contents = {
                number: np.frombuffer(block, np.uint8).reshape(layers, -1)
                for number, block in taken.items()
            }
            reached = self._exchange.write(KvPrefix(sequence.salt, tokens), contents)
            one = (time.perf_counter() - begin) / len(taken)
            self._land_seconds = moving_mean(self._land_seconds, one, MEMORY)
            for number in taken:
                self.fetched[tiers[number]] += number < reached
            if reached < end:
                del self._fetches[sequence]
                return len(taken)
        if fetch.over:
            del self._fetches[sequence]
        return len(taken)

    # To disk ------------------------------------------------------------------------------------

    def _write_through(self, most: int) -> None:
        """Write up to `most` blocks of ended sequences to disk that are not there, and look at no
        more than a few times as many."""
        chosen: dict[bytes, int] = {}
        for _ in range(4 * most):
            if len(chosen) >= most or not self._ended:
                break
            node = next(self._ended[0], None)
            if node is None:
                self._ended.popleft()
            elif node.block:  # one that was evicted since has been kept then
                key = self.stores.key(self._tree.digest(node))
                if self.stores.disk is not None and not self.stores.disk.holds(key):
                    chosen[key] = node.block
        if chosen:
            begin = time.perf_counter()
            contents = self._runner.read_blocks(list(chosen.values()))
            for key, block in zip(chosen, contents, strict=True):
                self.stores.write_through(key, block.tobytes())
            one = (time.perf_counter() - begin) / len(chosen)
            self._save_seconds = moving_mean(self._save_seconds, one, MEMORY)

    def _most(self, decoding: int) -> int:
        """Blocks that may be moved between two steps."""
        alone = None if self._step_times is None else self._step_times.step(decoding)
        if not decoding or alone is None:
            return MOST_WHILE_IDLE
        slower = max(self._land_seconds or 0.0, self._save_seconds or 0.0)
        return min(MOST_WHILE_IDLE, max(1, int(SHARE * alone / slower))) if slower else 1


def _path(node: Node) -> list[Node]:
    """The nodes from the first block to `node`."""
    nodes: list[Node] = []
    while node.parent is not None:
        nodes.append(node)
        node = node.parent
    return nodes[::-1]


def open_stores(config: EngineConfig, layout: str, notify: Callable[[], None]) -> Stores | None:
    """Return the stores of an engine; None if its settings ask for none. `layout`: weights and
    storage format of its blocks. `notify`: see `DiskThread`.

    The bits of a block also depend on the program that computed it, so versions and the kind of
    processor are parts of the key.
    """
    if not config.kv_host_bytes and config.kv_disk is None:
        return None
    versions = [VERSION, version("torch")]
    instructions = (INSTRUCTIONS, torch.backends.cpu.get_cpu_capability())
    processor = (platform.machine(), *instructions, config.threads)
    identity = f"{layout} {versions} {processor}"
    host = HostStore(config.kv_host_bytes, config.kv_policy) if config.kv_host_bytes else None
    disk = None
    if config.kv_disk is not None:
        folder = DiskFolder(config.kv_disk, config.kv_disk_bytes, config.kv_policy)
        disk = DiskThread(folder, notify)
    return Stores(identity, host, disk)
