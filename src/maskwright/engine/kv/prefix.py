"""The prefix tree: blocks of keys and values that were computed before, found by their tokens.

A node is one full block; the way from a root to it spells all tokens up to and including its own,
so what is found is exact, whatever two prompts hash to. Roots are told apart by a salt (model,
adapter, data type, and the client's own if it wants to share with nobody).

Keys and values at a position depend on the tokens up to there alone, and the forward gives them
the same bits under any schedule (docs/decisions/0002), so a hit and a miss give equal logits.

Blocks are given up from the leaves, the one whose last user left longest ago first. A block in use
by a table is never given up: its users also hold every block on the way to it, so what the tree
alone holds can always be given up leaf by leaf.

With a sliding window (`Reach`) a sequence lets go of what is behind it, and a hit needs no block
behind its own: then every block that the tree alone holds can be given up, and a node without its
block stays as long as the way to another leads through it.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from maskwright.engine.kv.attention_window import Reach
from maskwright.engine.kv.blocks import BlockPool


@dataclass(slots=True, eq=False)
class Node:
    """One cached block, 0 if it was given up before those after it; `key` is its tokens, `depth`
    how many blocks end with it. A root has no block, no parent and depth 0. `stamp` is the time of
    its last use, in the tree's own count."""

    key: tuple[int, ...]
    block: int
    parent: Node | None
    depth: int
    stamp: int = 0
    children: dict[tuple[int, ...], Node] = field(default_factory=dict[tuple[int, ...], "Node"])


class PrefixTree:
    """The tree over one pool. `hits` and `queries` count tokens: found, and looked for."""

    def __init__(self, pool: BlockPool, reach: Reach) -> None:
        self.queries = 0
        self.hits = 0
        self.evictions = 0
        self._pool = pool
        self._reach = reach
        self._roots: dict[Hashable, Node] = {}
        self._nodes = 0
        self._clock = 0
        self._order = itertools.count()
        self._offers: list[tuple[int, int, Node]] = []  # may hold entries that are out of date

    def root(self, salt: Hashable) -> Node:
        """Where the prompts of one salt begin. Not to be kept: a root without children may go."""
        found = self._roots.get(salt)
        if found is None:
            if len(self._roots) > 2 * self._nodes + 64:
                self._roots = {name: root for name, root in self._roots.items() if root.children}
            found = self._roots[salt] = Node((), 0, None, 0)
        return found

    def match(self, salt: Hashable, tokens: Sequence[int], most: int) -> Node:
        """The deepest node on the way of `tokens`, within the first `most` of them, from which a
        sequence can go on: with every block that it reaches back to."""
        node, size = self.root(salt), self._pool.block_size
        found, unbroken = node, 0
        for end in range(size, most + 1, size):
            following = node.children.get(tuple(tokens[end - size : end]))
            if following is None:
                break
            node = following
            unbroken = unbroken + 1 if node.block else 0
            if unbroken >= node.depth - self._reach.behind(end):
                found = node
        return found

    def path(self, node: Node) -> list[int]:
        """The blocks from the root's first to `node`'s own, 0 for those behind its reach; the
        others count as used now."""
        blocks = [0] * node.depth
        self._clock += 1
        for here in self._reached(node):
            blocks[here.depth - 1] = here.block
            here.stamp = self._clock
        return blocks

    def nearest(self, node: Node, tokens: Sequence[int], most: int) -> tuple[int, int]:
        """The child block of `node` that begins with most of the `tokens` after it, and how many
        (fewer than a block, within the first `most` tokens)."""
        start = node.depth * self._pool.block_size
        wanted = tuple(tokens[start : min(most, start + self._pool.block_size - 1)])
        block, longest = 0, 0
        for child in node.children.values():
            count = common(child.key, wanted)
            if count > longest and child.block:
                block, longest = child.block, count
        return block, longest

    def insert(self, node: Node, key: tuple[int, ...], block: int) -> Node:
        """The child of `node` for `key`, with the block there is, else `block`, held by the tree
        too. `block` 0: it is behind the reach of those to come, and only leads there."""
        child = node.children.get(key)
        if child is None:
            child = node.children[key] = Node(key, 0, node, node.depth + 1, self._clock)
            self._nodes += 1
        if block and not child.block:
            child.block = block
            self._pool.adopt(block)
        return child

    def leave(self, node: Node) -> None:
        """A table that ended at `node` has let go of its blocks."""
        self.path(node)
        if self._reach.window is None:
            self._offer(node)
        else:
            for here in reversed(list(self._reached(node))):
                self._offer(here)

    def leave_behind(self, node: Node, first: int, last: int) -> None:
        """A table that ends at `node` has let go of its blocks `first` to `last` (not counted)."""
        way = [node]
        while way[-1].depth > first + 1 and way[-1].parent is not None:
            way.append(way[-1].parent)
        for here in reversed(way):
            if here.depth <= last:
                self._offer(here)

    def evict(self, count: int) -> None:
        """Give up `count` blocks; the caller has checked that so many are cached."""
        while count:
            stamp, _, node = heapq.heappop(self._offers)
            if (
                stamp != node.stamp
                or not self._may_go(node)
                or not self._pool.only_cached(node.block)
            ):
                continue  # in use, grown or used since; whoever did that offers it again
            self._pool.disown(node.block)
            node.block = 0
            self.evictions += 1
            count -= 1
            self._offer(self._prune(node))

    def blocks(self) -> Iterator[int]:
        """Every block that the tree holds."""
        stack = list(self._roots.values())
        while stack:
            node = stack.pop()
            stack += node.children.values()
            if node.block:
                yield node.block

    def check(self) -> None:
        """Assert that every block the tree alone holds can be given up."""
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
            elif self._reach.window is None:
                parent = node.parent
                assert parent.parent is None or not self._pool.only_cached(parent.block)
        assert count == self._nodes

    def _reached(self, node: Node) -> Iterator[Node]:
        """`node` and those before it whose blocks a sequence that goes on from it reads."""
        behind = self._reach.behind(node.depth * self._pool.block_size)
        while node.parent is not None and node.depth > behind:
            yield node
            node = node.parent

    def _may_go(self, node: Node) -> bool:
        """Whether the block of `node` may be given up before those after it."""
        return bool(node.block) and (self._reach.window is not None or not node.children)

    def _offer(self, node: Node) -> None:
        if not self._may_go(node):
            return
        heapq.heappush(self._offers, (node.stamp, next(self._order), node))
        if len(self._offers) > 2 * self._nodes + 64:
            current = {e[2]: e for e in self._offers if e[0] == e[2].stamp}
            self._offers = list(current.values())
            heapq.heapify(self._offers)

    def _prune(self, node: Node) -> Node:
        """Take out `node` and those before it that neither hold a block nor lead to one; what is
        left of the way."""
        while (parent := node.parent) is not None and not node.block and not node.children:
            del parent.children[node.key]
            node.parent = None
            self._nodes -= 1
            node = parent
        return node


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """Tokens at the beginning that are the same."""
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))
