"""The prefix tree: blocks of keys and values that were computed before, found by their tokens.

A node is one full block; the way from a root to it spells all tokens up to and including its own,
so what is found is exact, whatever two prompts hash to. Roots are told apart by a salt (model,
adapter, data type, and the client's own if it wants to share with nobody).

Keys and values at a position depend on the tokens up to there alone, and the forward gives them
the same bits under any schedule (docs/decisions/0002), so a hit and a miss give equal logits.

Nodes are given up from the leaves, the one whose last user left longest ago first. A node in use
by a table is never given up: its users also hold every node on the way to it, so what the tree
alone holds can always be given up leaf by leaf.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from maskwright.engine.blocks import BlockPool


@dataclass(slots=True, eq=False)
class Node:
    """One cached block; `key` is its tokens, `depth` how many blocks end with it. A root has no
    block, no parent and depth 0. `stamp` is the time of its last use, in the tree's own count."""

    key: tuple[int, ...]
    block: int
    parent: Node | None
    depth: int
    stamp: int = 0
    children: dict[tuple[int, ...], Node] = field(default_factory=dict[tuple[int, ...], "Node"])


class PrefixTree:
    """The tree over one pool. `hits` and `queries` count tokens: found, and looked for."""

    def __init__(self, pool: BlockPool) -> None:
        self.queries = 0
        self.hits = 0
        self.evictions = 0
        self._pool = pool
        self._roots: dict[Hashable, Node] = {}
        self._nodes = 0
        self._clock = 0
        self._order = itertools.count()
        self._leaves: list[tuple[int, int, Node]] = []  # may hold entries that are out of date

    def root(self, salt: Hashable) -> Node:
        """Where the prompts of one salt begin. Not to be kept: a root without children may go."""
        found = self._roots.get(salt)
        if found is None:
            if len(self._roots) > 2 * self._nodes + 64:
                self._roots = {name: root for name, root in self._roots.items() if root.children}
            found = self._roots[salt] = Node((), 0, None, 0)
        return found

    def match(self, salt: Hashable, tokens: Sequence[int], most: int) -> Node:
        """The deepest node on the way of `tokens`, within the first `most` of them."""
        node, size = self.root(salt), self._pool.block_size
        for end in range(size, most + 1, size):
            following = node.children.get(tuple(tokens[end - size : end]))
            if following is None:
                break
            node = following
        return node

    def path(self, node: Node) -> list[int]:
        """The blocks from the root's first to `node`'s own, and they count as used now."""
        blocks = [0] * node.depth
        self._clock += 1
        here = node
        while here.parent is not None:
            blocks[here.depth - 1] = here.block
            here.stamp = self._clock
            here = here.parent
        return blocks

    def nearest(self, node: Node, tokens: Sequence[int], most: int) -> tuple[int, int]:
        """The child block of `node` that begins with most of the `tokens` after it, and how many
        (fewer than a block, within the first `most` tokens)."""
        start = node.depth * self._pool.block_size
        wanted = tuple(tokens[start : min(most, start + self._pool.block_size - 1)])
        block, longest = 0, 0
        for child in node.children.values():
            count = common(child.key, wanted)
            if count > longest:
                block, longest = child.block, count
        return block, longest

    def insert(self, node: Node, key: tuple[int, ...], block: int) -> Node:
        """The child of `node` for `key`: the one there is, else `block`, held by the tree too."""
        child = node.children.get(key)
        if child is None:
            child = node.children[key] = Node(key, block, node, node.depth + 1, self._clock)
            self._pool.adopt(block)
            self._nodes += 1
        return child

    def leave(self, node: Node) -> None:
        """A table that ended at `node` has let go of its blocks."""
        self.path(node)
        self._offer(node)

    def evict(self, count: int) -> None:
        """Give up `count` blocks; the caller has checked that so many are cached."""
        while count:
            stamp, _, node = heapq.heappop(self._leaves)
            parent = node.parent
            if (
                stamp != node.stamp
                or node.children
                or parent is None
                or not self._pool.only_cached(node.block)
            ):
                continue  # in use, grown or used since; whoever did that offers it again
            self._pool.disown(node.block)
            del parent.children[node.key]
            node.parent = None
            self._nodes -= 1
            self.evictions += 1
            count -= 1
            self._offer(parent)

    def blocks(self) -> Iterator[int]:
        """Every block that the tree holds."""
        stack = list(self._roots.values())
        while stack:
            node = stack.pop()
            stack += node.children.values()
            if node.parent is not None:
                yield node.block

    def check(self) -> None:
        """Assert that every block the tree alone holds can be given up."""
        offered = {node for stamp, _, node in self._leaves if stamp == node.stamp}
        stack, count = list(self._roots.values()), 0
        while stack:
            node = stack.pop()
            stack += node.children.values()
            if node.parent is None:
                continue
            count += 1
            if not self._pool.only_cached(node.block):
                assert node.parent.parent is None or not self._pool.only_cached(node.parent.block)
            elif not node.children:
                assert node in offered, "a cached leaf that nobody can evict"
        assert count == self._nodes

    def _offer(self, node: Node) -> None:
        if node.parent is None or node.children:
            return
        heapq.heappush(self._leaves, (node.stamp, next(self._order), node))
        if len(self._leaves) > 2 * self._nodes + 64:
            self._leaves = [entry for entry in self._leaves if entry[0] == entry[2].stamp]
            heapq.heapify(self._leaves)


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """Tokens at the beginning that are the same."""
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))
