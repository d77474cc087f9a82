"""The shortest text that completes a configuration.

In the middle of a leaf, a breadth-first search over the leaf's bytes finds the places at which it
can be left, the nearest first; from there on, the contexts on the stack know what is still missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Final, NamedTuple, Protocol

from maskwright.automaton.finish.bounds import Bound
from maskwright.automaton.finish.levels import Ending
from maskwright.automaton.leaf.exits import PartsEnded
from maskwright.automaton.leaf.keys import Entry, Key, Text
from maskwright.automaton.machine.exits import BLOCKED, DONE, DYNAMIC, Configuration, apply_exit
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.last_value import last_value
from maskwright.automaton.value.witness_text import spelled
from maskwright.errors import LimitError
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import EMPTY, Parallel, Tagged
from maskwright.limits import Limits

NEARBY: Final = 256
"""Leaf states that are visited in search of a shorter completion once there is one. After the quote
of a free property name there are tens of thousands (each spelling of each escape), none of them
nearer; without this bound a search there took half a second and most of a leaf's memory."""
_MATCHED: Final = 1
"""The label of a leaf that reads one language and has matched it."""


class Finisher(Protocol):
    """Contexts that can be completed."""

    def finish(self, contexts: list[int], leaf: int, before: bytes) -> Ending:
        """The shortest text that completes a stack of contexts, the innermost first.

        `leaf` is the state in which `exit` entered the innermost, `before` the text so far.
        """
        ...

    def bound(self, context: int) -> Bound | None:
        """An upper bound on the completion of one level (see `bounds`); None without a search."""
        ...


class _Visit(NamedTuple):
    """A leaf state at which a search has arrived."""

    leaf: int
    text: bytes
    """The bytes that lead to it."""
    seen: int
    """How many leaf states have been met by then."""


class CompletionSearch:
    """Shortest completions of one machine's configurations. What depends on the configuration alone
    is computed once.

    Raises `LimitError` if the search within a leaf takes too long.
    """

    def __init__(self, machine: Machine, finisher: Finisher, limits: Limits) -> None:
        self._machine = machine
        self._finisher = finisher
        self._limits = limits
        self._known: dict[Configuration, bytes | None] = {}
        self._by_text = False
        """Whether the result of the present search depends on the text so far."""

    def find(self, here: Configuration, before: bytes) -> bytes | None:
        """The bytes that complete `here`, b"" if the text is complete; None if nothing does.

        `before` is the text so far, which matters only where names or items must differ.
        """
        if here in self._known:
            return self._known[here]
        self._by_text = False
        found = self._search(here, before)
        if not self._by_text:
            self._known[here] = found
        return found

    def is_known(self, here: Configuration) -> bool:
        """Whether the completion has been found, and doesn't depend on the text so far."""
        return here in self._known

    def _search(self, here: Configuration, before: bytes) -> bytes | None:
        stack = self._stack(here.node)
        if stack[0] == DONE:
            return b""
        if isinstance(self._machine.leaves.keys[here.leaf], Entry):
            return self._finish(stack, here.leaf, before)
        best: bytes | None = None
        tried: set[Hashable] = set()
        for leaf, text, seen in self._leaf_states(here.leaf, stack[0]):
            # The nearest exit isn't always the best: what follows it may be longer.
            if best is not None and (len(text) >= len(best) or seen > NEARBY):
                break
            for label, ending in self._exits_of(leaf, tried):
                tail = self._after_exit(stack, label, before + text + ending)
                if tail is not None:
                    found = text + ending + tail
                    best = found if best is None else min(best, found, key=len)
        return best

    # Within a leaf

    def _leaf_states(self, leaf: int, context: int) -> Iterator[_Visit]:
        """The states that can be reached within a leaf, breadth first. States whose exits are known
        without a search (see `_reads_language`) lead no further."""
        leaves = self._machine.leaves
        seen = {leaf}
        queue: deque[tuple[int, bytes]] = deque([(leaf, b"")])
        while queue:
            at, text = queue.popleft()
            yield _Visit(at, text, len(seen))
            if _reads_language(leaves.keys[at]):
                continue
            for byte, target in sorted(leaves.next_states(at).items(), key=_readable_first):
                if target not in seen and self._machine.gate_open(target, context):
                    seen.add(target)
                    queue.append((target, text + bytes([byte])))
            if len(seen) > self._limits.witness_search:
                raise LimitError("a shortest completion was not found", limit="witness_search")

    def _exits_of(self, leaf: int, tried: set[Hashable]) -> Iterator[tuple[Hashable, bytes]]:
        """The labels with which a leaf can be left from one of its states, and the text that leads
        there. A label of the state itself is offered only once, and then added to `tried`."""
        key = self._machine.leaves.keys[leaf]
        match key:
            case Text(term=Parallel(terms=terms, parts=parts)):
                for whole, part in zip(terms, parts, strict=True):
                    if part is not EMPTY:
                        yield PartsEnded((whole,)), self._shortest(Text(False, part))
            case Text() if _reads_language(key):
                yield _MATCHED, self._shortest(key)
            case _:
                label = self._machine.leaves.label_of(leaf)
                if label is not None and label not in tried:
                    tried.add(label)
                    yield label, b""

    def _shortest(self, key: Text) -> bytes:
        """The rest of one string or text. There is one: leaf states of no text are never made."""
        text = shortest(key.term, self._limits.witness_search) or ""
        return spelled(text)[1:].encode() if key.inside else text.encode()

    # From one leaf to the next

    def _after_exit(self, stack: list[int], label: Hashable, text: bytes) -> bytes | None:
        """The completion after the leaf on top of `stack` has been left with `label`; None if it
        can't be. `text` is the whole text up to there."""
        while True:
            step = self._machine.contexts.exit(stack[0], label)
            if step.kind & DYNAMIC:
                self._by_text = True
                step = self._machine.contexts.exit(stack[0], label, last_value(text))
            if step.kind == BLOCKED:
                return None
            removed, added = apply_exit(step)
            stack = [*reversed(added), *stack[removed:]]
            if not step.pops:
                return b"" if step.context == DONE else self._finish(stack, step.leaf, text)
            label = step.result

    def _finish(self, stack: list[int], leaf: int, text: bytes) -> bytes | None:
        ending = self._finisher.finish(stack, leaf, text)
        self._by_text |= ending.by_text
        return ending.text

    def _stack(self, node: int) -> list[int]:
        """The contexts from `node` down to the root."""
        arrays = self._machine.arrays
        found: list[int] = []
        while node >= 0:
            found.append(int(arrays.node_context[node]))
            node = int(arrays.node_parent[node])
        return found


def _reads_language(key: Key) -> bool:
    """Whether a state is at a character boundary of a text or string that is left only at its end,
    so that the shortest rest is a property of the language alone. A `Tagged` is not: which of its
    parts has matched makes a difference."""
    return isinstance(key, Text) and not isinstance(key.term, Tagged)


def _readable_first(step: tuple[int, int]) -> tuple[bool, int]:
    """Letters and digits before signs, so that completions read well."""
    byte, _ = step
    return not chr(byte).isalnum(), byte
