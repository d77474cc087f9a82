"""The shortest way to finish a text from any configuration.

In the middle of a leaf a breadth-first search over its bytes finds the nearest ways out; from
there on, what is still missing on each open level is known from the witnesses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Protocol

from maskwright.automaton.finish.bounds import Bound
from maskwright.automaton.finish.levels import Ending
from maskwright.automaton.leaf.exits import Over
from maskwright.automaton.leaf.keys import Entry, Text
from maskwright.automaton.machine.exits import BLOCKED, DONE, DYNAMIC, Configuration, apply_exit
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.last_value import last_value
from maskwright.automaton.value.witness_text import spelled
from maskwright.errors import LimitError
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular, Vector
from maskwright.limits import Limits

NEARBY = 256
"""Leaf states looked at for a way out that is shorter than one already found. Behind the quote of
a free property name there are tens of thousands (each spelling of each escape), none of them
nearer; without this bound a search there took half a second and most of a leaf's memory."""


class Finisher(Protocol):
    """Contexts that know how to finish."""

    def finish(self, contexts: list[int], leaf: int, before: bytes) -> Ending:
        """The shortest text that completes a stack of contexts, the innermost first.

        `leaf` is the state in which `exit` entered the innermost, `before` the text so far.
        """
        ...

    def bound(self, context: int) -> Bound | None:
        """An upper bound of what completes one level (see `bounds`), None if it takes a search."""
        ...


class Completion:
    """Shortest completions of one machine's configurations, each computed once."""

    def __init__(self, machine: Machine, finisher: Finisher, limits: Limits) -> None:
        self._machine = machine
        self._finisher = finisher
        self._limits = limits
        self._known: dict[Configuration, bytes | None] = {}
        self._dynamic = False
        """Whether the present search met a dynamic exit."""

    def of(self, here: Configuration, before: bytes) -> bytes | None:
        """The bytes, b"" if the text is complete; None if it can't be completed.

        `before` is the text so far, looked at only where an exit is dynamic.
        """
        if here in self._known:
            return self._known[here]
        self._dynamic = False
        found = self._search(here, before)
        if not self._dynamic:
            self._known[here] = found
        return found

    def known(self, here: Configuration) -> bool:
        """Whether the completion has been found, and is the same whatever the text before."""
        return here in self._known

    def _search(self, here: Configuration, before: bytes) -> bytes | None:
        context = int(self._machine.arrays.node_context[here.node])
        if context == DONE:
            return b""
        leaves = self._machine.leaves
        if isinstance(leaves.keys[here.leaf], Entry):
            ending = self._finisher.finish(self._stack(here.node), here.leaf, before)
            self._dynamic |= ending.by_text
            return ending.text
        best: bytes | None = None
        seen = {here.leaf}
        queue: deque[tuple[int, bytes]] = deque([(here.leaf, b"")])
        tried: set[Hashable] = set()
        while queue:
            leaf, text = queue.popleft()
            if best is not None and (len(text) >= len(best) or len(seen) > NEARBY):
                break
            key = leaves.keys[leaf]
            direct = False
            label = leaves.label_of(leaf)
            if isinstance(key, Text) and isinstance(key.term, Parallel):
                for part, name in _endings(key.term):
                    piece = text + self._shortest(Text(False, part))
                    tail = self._behind(here.node, name, before + piece)
                    if tail is not None and (best is None or len(piece) + len(tail) < len(best)):
                        best = piece + tail
                continue
            if isinstance(key, Text) and not isinstance(key.term, Vector):
                direct, label = True, 1
                text += self._shortest(key)
            if label is not None and (direct or label not in tried):
                tried.add(label)
                tail = self._behind(here.node, label, before + text)
                if tail is not None and (best is None or len(text) + len(tail) < len(best)):
                    best = text + tail
            if direct:
                continue
            for byte, target in sorted(leaves.next_states(leaf).items(), key=_readable_first):
                if target not in seen and self._machine.gate_open(target, context):
                    seen.add(target)
                    queue.append((target, text + bytes([byte])))
            if len(seen) > self._limits.witness_search:
                raise LimitError("a shortest completion was not found", limit="witness_search")
        return best

    def _shortest(self, key: Text) -> bytes:
        """The rest of one string or text; a leaf state's term always has one."""
        text = shortest(key.term, self._limits.witness_search) or ""
        return spelled(text)[1:].encode() if key.inside else text.encode()

    def _behind(self, node: int, label: Hashable, text: bytes) -> bytes | None:
        """The completion once the leaf on top of `node` has been left with `label`.

        `text` is the whole text up to there.
        """
        stack = self._stack(node)
        while True:
            step = self._machine.contexts.exit(stack[0], label)
            if step.kind & DYNAMIC:
                self._dynamic = True
                step = self._machine.contexts.exit(stack[0], label, last_value(text))
            if step.kind == BLOCKED:
                return None
            removed, added = apply_exit(step)
            stack = [*reversed(added), *stack[removed:]]
            if step.pops:
                label = step.result
                continue
            if step.context == DONE:
                return b""
            ending = self._finisher.finish(stack, step.leaf, text)
            self._dynamic |= ending.by_text
            return ending.text

    def _stack(self, node: int) -> list[int]:
        """The contexts from `node` down to the root."""
        arrays = self._machine.arrays
        found: list[int] = []
        while node >= 0:
            found.append(int(arrays.node_context[node]))
            node = int(arrays.node_parent[node])
        return found


def _endings(term: Parallel) -> Iterator[tuple[Regular, Over]]:
    """Each part that lives, and the label of the leaf once that part alone has ended."""
    for whole, part in zip(term.terms, term.parts, strict=True):
        if part is not EMPTY:
            yield part, Over((whole,))


def _readable_first(step: tuple[int, int]) -> tuple[bool, int]:
    """Letters and digits before signs, so that completions read well."""
    byte, _ = step
    return not chr(byte).isalnum(), byte
