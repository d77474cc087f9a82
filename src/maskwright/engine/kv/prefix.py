"""The prefix cache: a radix tree over blocks of tokens whose keys and values have been computed.

A node stands for one full block. The path from the root to a node spells all tokens up to and
including the node's own, so that a hit is exact and can't be a hash collision. Each salt has a
root of its own; a salt consists of model, data type, adapter and the client's `cache_salt`.

Keys and values at a position depend only on the tokens up to that position, and the forward gives
them equal bits under any schedule (docs/decisions/0002), so a hit and a miss give equal logits.

Blocks are evicted from the leaves, least recently used first. A block that a table holds is never
evicted. Its holders also hold every block on the path to it, so the blocks that only the tree holds
can always be evicted leaf by leaf.

With a sliding window (`AttentionWindow`) a sequence releases the blocks that have left the window,
and a hit needs only the blocks inside it. Then every block that only the tree holds can be evicted,
and a node without a block stays in the tree as long as it leads to another node.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from maskwright.engine.kv.block_keys import next_key, root_key
from maskwright.engine.kv.blocks import AttentionWindow, BlockPool

MOST_NOTES: Final = 4096


@dataclass(slots=True, eq=False)
class Node:
    """One cached block. `key`: its tokens. `block`: its number in the pool, 0 if it was evicted
    while nodes below it stay. `depth`: the number of blocks from the root to here. `stamp`: when it
    was last used, by the tree's own counter. `digest`: see `PrefixTree.digest`, empty until it is
    asked for. A root has no block, no parent and depth 0."""

    key: tuple[int, ...]
    block: int
    parent: Node | None
    depth: int
    stamp: int = 0
    digest: bytes = b""
    children: dict[tuple[int, ...], Node] = field(default_factory=dict[tuple[int, ...], "Node"])


class PrefixTree:
    """The radix tree over one pool. `queries` counts the tokens that were looked up, `hits` those
    of them that were found, `evictions` blocks."""

    def __init__(self, pool: BlockPool, attention_window: AttentionWindow) -> None:
        self.queries = 0
        self.hits = 0
        self.evictions = 0
        self.keep: Callable[[Sequence[tuple[bytes, int]]], None] | None = None
        """Called with the digests and the numbers of evicted blocks while their contents are still
        in the pool."""
        self._pool = pool
        self._attention_window = attention_window
        self._roots: dict[Hashable, Node] = {}
        self._nodes = 0
        self.clock = 0
        """The value of `Node.stamp` of what was used last."""
        self.evicted_stamp = 0
        """The greatest `Node.stamp` of all evicted blocks."""
        self._order = itertools.count()
        self._offers: list[tuple[int, int, Node]] = []  # a heap with outdated entries

    def root(self, salt: Hashable) -> Node:
        """The root of one salt. Callers must not keep it: roots without children are removed now
        and then."""
        root = self._roots.get(salt)
        if root is None:
            if len(self._roots) > 2 * self._nodes + 64:
                self._roots = {name: root for name, root in self._roots.items() if root.children}
            root = self._roots[salt] = Node((), 0, None, 0, digest=root_key(repr(salt)))
        return root

    def digest(self, node: Node) -> bytes:
        """The digest of all tokens up to the end of `node`, and of the salt (`block_keys`)."""
        way: list[Node] = []
        above = node
        while not above.digest and above.parent is not None:
            way.append(above)
            above = above.parent
        digest = above.digest
        for here in reversed(way):
            digest = here.digest = next_key(digest, here.key)
        return digest

    def match(self, salt: Hashable, tokens: Sequence[int], most: int) -> Node:
        """The deepest node along `tokens`, within the first `most` of them, from which a sequence
        can go on: every block within its attention window is still cached."""
        matched, unbroken = self.root(salt), 0
        for node in self.along(salt, tokens, most):
            unbroken = unbroken + 1 if node.block else 0
            end = node.depth * self._pool.block_size
            if unbroken >= node.depth - self._attention_window.blocks_outside(end):
                matched = node
        return matched

    def along(self, salt: Hashable, tokens: Sequence[int], most: int | None = None) -> list[Node]:
        """The nodes along `tokens`, or the first `most` of them, from the first block on, as far as
        there are any. Those whose block was evicted are among them."""
        node, size = self.root(salt), self._pool.block_size
        found: list[Node] = []
        for end in range(size, (len(tokens) if most is None else most) + 1, size):
            following = node.children.get(tuple(tokens[end - size : end]))
            if following is None:
                break
            found.append(node := following)
        return found

    def path(self, node: Node) -> list[int]:
        """The blocks from the root to `node`, with 0 for blocks outside the attention window. The
        other blocks are marked as used now."""
        blocks = [0] * node.depth
        self.clock += 1
        for here in self._reached(node):
            blocks[here.depth - 1] = here.block
            here.stamp = self.clock
        return blocks

    def nearest(self, node: Node, tokens: Sequence[int], most: int) -> tuple[int, int]:
        """The block among the children of `node` that shares the longest beginning with the
        `tokens` after it, and the length of that beginning (less than a block, within the first
        `most` tokens); `(0, 0)` if there is none."""
        start = node.depth * self._pool.block_size
        wanted = tuple(tokens[start : min(most, start + self._pool.block_size - 1)])
        block, longest = 0, 0
        for child in node.children.values():
            count = common(child.key, wanted)
            if count > longest and child.block:
                block, longest = child.block, count
        return block, longest

    def insert(self, node: Node, key: tuple[int, ...], block: int) -> Node:
        """The child of `node` for `key`, made if it does not exist. If it has no block yet, the
        tree takes a reference to `block`. `block` 0 means that the block is outside the attention
        window and the node is needed only as part of a path."""
        child = node.children.get(key)
        if child is None:
            child = node.children[key] = Node(key, 0, node, node.depth + 1, self.clock)
            self._nodes += 1
        if block and not child.block:
            child.block = block
            self._pool.adopt(block)
        return child

    def leave(self, node: Node) -> None:
        """Make evictable what a table that ended at `node` held, after it has released its
        blocks."""
        self.path(node)
        if self._attention_window.positions is None:
            self._offer(node)
        else:
            for here in reversed(list(self._reached(node))):
                self._offer(here)

    def release_range(self, node: Node, first: int, last: int) -> None:
        """Make evictable the blocks `first` to `last` (exclusive) of a table that ends at `node`,
        after it has released them because they left the attention window."""
        way = [node]
        while way[-1].depth > first + 1 and way[-1].parent is not None:
            way.append(way[-1].parent)
        for here in reversed(way):
            if here.depth <= last:
                self._offer(here)

    def evict(self, count: int) -> None:
        """Evict `count` blocks, least recently used first. The caller has checked that the tree
        alone holds at least that many."""
        gone: list[tuple[bytes, int]] = []
        while count:
            stamp, _, node = heapq.heappop(self._offers)
            if (
                stamp != node.stamp
                or not self._may_go(node)
                or not self._pool.only_cached(node.block)
            ):
                continue  # outdated: the next release of the node pushes a new entry
            if self.keep is not None:
                gone.append((self.digest(node), node.block))
            self._pool.disown(node.block)
            self.evicted_stamp = max(self.evicted_stamp, stamp)
            node.block = 0
            self.evictions += 1
            count -= 1
            self._offer(self._prune(node))
        if self.keep is not None and gone:
            self.keep(gone)

    def blocks(self) -> Iterator[int]:
        """Every block that the tree holds."""
        stack = list(self._roots.values())
        while stack:
            node = stack.pop()
            stack += node.children.values()
            if node.block:
                yield node.block

    def roots(self) -> list[Node]:
        """The roots of all salts, from any thread."""
        return list(self._roots.values())

    def holders(self, node: Node) -> int:
        """How many tables hold the block of `node`."""
        return self._pool.references(node.block) - 1 if node.block else 0

    def check(self) -> None:
        """Assert that every block that only the tree holds can be evicted."""
        offered = {node for stamp, _, node in self._offers if stamp == node.stamp}
        stack, count = list(self._roots.values()), 0
        while stack:
            node = stack.pop()
            stack += node.children.values()
            if node.parent is None:
                continue
            count += 1
            assert node.block or node.children, "a node that nothing needs"
            if node.block and self._pool.only_cached(node.block):
                assert not self._may_go(node) or node in offered, "cached, and nobody can evict it"
            elif self._attention_window.positions is None:
                parent = node.parent
                assert parent.parent is None or not self._pool.only_cached(parent.block)
        assert count == self._nodes

    def _reached(self, node: Node) -> Iterator[Node]:
        """`node` and its ancestors whose blocks are read by a sequence that continues at `node`."""
        outside = self._attention_window.blocks_outside(node.depth * self._pool.block_size)
        while node.parent is not None and node.depth > outside:
            yield node
            node = node.parent

    def _may_go(self, node: Node) -> bool:
        """Whether the block of `node` may be evicted while its descendants stay: only with a
        sliding window, or if there are none."""
        return bool(node.block) and (
            self._attention_window.positions is not None or not node.children
        )

    def _offer(self, node: Node) -> None:
        if not self._may_go(node):
            return
        heapq.heappush(self._offers, (node.stamp, next(self._order), node))
        if len(self._offers) > 2 * self._nodes + 64:
            current = {e[2]: e for e in self._offers if e[0] == e[2].stamp}
            self._offers = list(current.values())
            heapq.heapify(self._offers)

    def _prune(self, node: Node) -> Node:
        """Remove `node` and its ancestors as far as they have neither a block nor children; the
        first ancestor that stays."""
        while (parent := node.parent) is not None and not node.block and not node.children:
            del parent.children[node.key]
            node.parent = None
            self._nodes -= 1
            node = parent
        return node


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the common prefix of two sequences."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


class CacheHorizon:
    """How far back the prefix cache reaches in time, which one number can tell a router. Blocks are
    evicted least recently used first: what was used after the last use of every evicted block is
    cached, and of what was used before, something may be gone.

    Translates the counter of a prefix tree into times. `note` must be called by the thread that
    uses the tree; `time` may be read by any.
    """

    def __init__(self, tree: PrefixTree) -> None:
        self.time: float | None = None
        """The time after whose end nothing that was used has been evicted; None before the first
        eviction."""
        self._tree = tree
        self._evicted = 0
        self._notes: deque[tuple[int, float]] = deque(maxlen=MOST_NOTES)
        """Values of the tree's counter, and the times when they were first seen."""

    def note(self, now: float) -> None:
        """Note the time `now` after a step. The tree was used at that time at the latest."""
        if not self._notes or self._notes[-1][0] < self._tree.clock:
            self._notes.append((self._tree.clock, now))
        if self._tree.evicted_stamp > self._evicted:
            self._evicted = self._tree.evicted_stamp
            while self._notes[0][0] < self._evicted:
                self._notes.popleft()
            self.time = self._notes[0][1]
