"""Events of captures, derived from the leaves that a text leaves.

As in Pike's simulation of automata with submatches, there are *threads*: the items of the start
rule that the machine's item sets hold, what the rule waits for and where it then continues. Each
thread has *logs* of where captures began and ended,
one for each reading of the text that leads to it. What all logs agree on has happened, and becomes
events. Captures of called rules have been moved into the start rule before (see
`grammar.rules.captures`); captures of recursive rules are not reported, as such a rule may read one
text in several places at once.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import Final, NamedTuple

from maskwright.automaton.events.events import CaptureBegun, CaptureEnded, CaptureText, Event
from maskwright.automaton.leaf.special_tokens import pieces
from maskwright.automaton.machine.trace import Left
from maskwright.automaton.rules.contexts import (
    ItemSetContext,
    ReadSymbols,
    ReturnFrame,
    RuleContexts,
    RuleLabel,
)
from maskwright.automaton.rules.item_sets import (
    BELOW,
    OUTERMOST,
    Item,
    RulePosition,
)
from maskwright.automaton.rules.nodes import CaptureBoundary, RuleCall
from maskwright.errors import LimitError
from maskwright.grammar.rules.tree import ContainerCapture
from maskwright.grammar.schema.tree import Json, Schema

MOST_LOGS: Final = 64
"""The most readings of a text that are distinguished in one thread."""


class LogEntry(NamedTuple):
    """A capture began or ended after `at` bytes of text."""

    at: int
    ends: bool
    name: str
    container: int = -1
    """The number of the schema by which another name may count; -1 if there is none."""


Log = tuple[LogEntry, ...]

THE_END: Final = None
"""The thread of a start rule that may have ended."""

Threads = dict[Item | None, set[Log]]


@dataclass(slots=True)
class _Open:
    """A capture that has begun: its text from byte `start` on is reported up to `reported`, before
    which the whole text has so many `characters`."""

    name: str
    start: int
    reported: int
    characters: int
    container: ContainerCapture | None = None
    """Another name that may count. Then not even the beginning has been reported."""


class CaptureReader:
    """Follows one text, which grows, through the rules of one grammar."""

    def __init__(self, contexts: RuleContexts, text: bytearray) -> None:
        self._contexts = contexts
        self._network = contexts.network
        self._sets = contexts.sets
        self._text = text
        self._open: list[_Open] = []
        """The captures whose beginning has been reported, and not their end; the innermost last."""
        self._counted = (0, 0)
        """A place in the text, and how many characters come before it."""
        self._threads: Threads = defaultdict(set)
        self._go_on(self._sets.start_position(), {()}, 0, self._threads)

    def left(self, left: Left, stack: list[int]) -> None:
        """Follow the leaving of a leaf or a context; `stack` holds the contexts before it, the
        innermost last."""
        if left.label is RuleLabel.COMPLETE:
            self._threads = defaultdict(set, {THE_END: self._threads[THE_END]})
            return
        context = self._contexts.context(left.context)
        if isinstance(context, ItemSetContext | ReturnFrame):
            self._move(left, stack)

    def _move(self, left: Left, stack: list[int]) -> None:
        read = self._contexts.read_symbols(left.context, left.label)
        moved: Threads = defaultdict(set)
        for thread in self._calling(read, stack[:-1]):
            moved[thread] |= self._threads.get(thread, set())
        for before, item in zip(read.before, read.kept, strict=True):
            if logs := self._threads.get(before):
                moved[item] |= logs
        seen: set[Item] = set()
        for item in read.ended:
            self._end(item, left.at, moved, seen)
        self._threads = moved

    def _end(self, item: Item, at: int, threads: Threads, seen: set[Item]) -> None:
        """Follow the end of an item's symbol."""
        if item in seen:
            return
        seen.add(item)
        after = item.after
        rule, kernel = after.return_to.rule, after.return_to.kernel
        if kernel == OUTERMOST:
            self._go_on(after, self._threads.get(item, set()), at, threads)
        elif kernel != BELOW and self._network.closure(after.node, after.counters).may_end:
            for caller in self._sets.closure(kernel).waiting[rule]:
                self._end(caller, at, threads, seen)

    def _go_on(self, position: RulePosition, logs: set[Log], at: int, threads: Threads) -> None:
        """Add to `found` the threads that follow `position`, with what their paths log."""
        if not logs:
            return
        for path in self._network.epsilon_paths(position.node, position.counters):
            passed = tuple(
                LogEntry(
                    at - len(one.tail.encode()) if one.ends else at,
                    one.ends,
                    one.name,
                    one.container.schema.number if one.container else -1,
                )
                for one in path.boundaries
            )
            thread = THE_END
            if path.transition is not None:
                after = path.transition
                place = self._sets.position(after.next, after.counters, position.return_to)
                thread = self._sets.item(after.symbol, place)
            room = max(0, MOST_LOGS - len(threads[thread]))
            threads[thread] |= {(*log, *passed) for log in islice(sorted(logs), room)}

    def _calling(self, read: ReadSymbols, below: list[int]) -> Iterator[Item]:
        """The threads that wait for a rule which is still being read: those to which the symbols
        just read return, and those in the contexts `below` on the stack."""
        kernels = [item.after.return_to.kernel for item in (*read.ended, *read.kept)]
        for context in map(self._contexts.context, below):
            if isinstance(context, ItemSetContext | ReturnFrame):
                kernels.append(context.kernel)
        seen: set[int] = set()
        while kernels:
            kernel = kernels.pop()
            if kernel in seen or kernel in (BELOW, OUTERMOST):
                continue
            seen.add(kernel)
            for item in self._sets.items_of(kernel):
                kernels.append(item.after.return_to.kernel)
                if isinstance(item.symbol, RuleCall) and kernels[-1] == OUTERMOST:
                    yield item

    # What all logs agree on

    def boundaries(self) -> Iterator[Event]:
        """The beginnings and ends of captures that have become certain since the last call, with
        the text before each."""
        logs = [log for logs in self._threads.values() for log in logs]
        agreed = _common_prefix(logs)
        for passed in agreed:
            for one in self._open:
                yield from self._report(one, passed.at)
            if passed.ends:
                one = self._open.pop()
                assert one.name == passed.name, "captures nest"
                text = self._plain(one.start, passed.at)
                if one.container is not None:
                    if self._is_container(text, one.container.schema):
                        one.name = one.container.name
                    yield from self._begin(one, passed.at)
                yield CaptureEnded(one.name, text)
            else:
                container = self._containers.get(passed.container)
                begun = _Open(
                    passed.name, passed.at, passed.at, self._characters(passed.at), container
                )
                self._open.append(begun)
                if container is None:
                    yield CaptureBegun(passed.name)
        if agreed:
            count = len(agreed)
            rest = {t: {log[count:] for log in logs} for t, logs in self._threads.items()}
            self._threads = defaultdict(set, rest)

    def pieces(self, *, final: bool = False) -> Iterator[Event]:
        """The new text of open captures that is certain: what may be part of a tail is held back,
        and so is an incomplete character. If the text is `final`, nothing is held back."""
        undecided = [log[0].at for logs in self._threads.values() for log in logs if log]
        stop = len(self._text) if final else min([*undecided, len(self._text)])
        for one in self._open:
            held = 0 if final else self._held(one, stop)
            if one.container is not None:
                text = self._text[one.start : stop - held].lstrip()
                if final or (text and text[:1] not in b"[{"):  # it can't be an array or object
                    yield from self._begin(one, stop - held)
            yield from self._report(one, stop - held)

    def _begin(self, one: _Open, stop: int) -> Iterator[Event]:
        """The beginning of a capture whose name has become certain, and its text up to `stop`."""
        one.container = None
        yield CaptureBegun(one.name)
        yield from self._report(one, stop)

    def _report(self, one: _Open, stop: int) -> Iterator[Event]:
        """The text of a capture from where it was last reported to `stop`."""
        if stop > one.reported and one.container is None:
            text = self._plain(one.reported, stop)
            at, one.reported = one.characters, stop
            one.characters += len(text)
            if text:
                yield CaptureText(one.name, text, at)

    def _held(self, one: _Open, stop: int) -> int:
        """How many bytes before `stop` may turn out to begin a tail or a character."""
        text = bytes(self._text[one.reported : stop])
        held = 0
        for tail in self._tails.get(one.name, ()):
            held = max(held, next(n for n in range(len(tail), -1, -1) if text.endswith(tail[:n])))
        whole = text[: len(text) - held]
        return held + len(whole) - len(_whole_characters(whole))

    @cached_property
    def _containers(self) -> dict[int, ContainerCapture]:
        """The other names of captures, by the numbers of their schemas."""
        boundaries = (node for node in self._network.nodes if isinstance(node, CaptureBoundary))
        found = (node.container for node in boundaries)
        return {other.schema.number: other for other in found if other is not None}

    def _is_container(self, text: str, schema: Schema) -> bool:
        """Whether a text is the JSON of an array or object that satisfies `schema`. What takes too
        long to decide is none: a text that may be both is right as a string, too."""
        value = _container_in(text)
        try:
            return value is not None and self._contexts.values.is_instance(value, schema)
        except LimitError:
            return False

    @cached_property
    def _tails(self) -> dict[str, set[bytes]]:
        """The tails with which the captures of each name may end."""
        tails: dict[str, set[bytes]] = defaultdict(set)
        for node in self._network.nodes:
            if isinstance(node, CaptureBoundary) and node.ends:
                tails[node.name].add(node.tail.encode())
        return tails

    def _characters(self, stop: int) -> int:
        """How many characters come before a place in the text."""
        start, count = self._counted if self._counted[0] <= stop else (0, 0)
        self._counted = (stop, count + len(self._plain(start, stop)))
        return self._counted[1]

    def _plain(self, start: int, stop: int) -> str:
        """The text between two places, without special tokens."""
        data = bytes(self._text[start:stop])
        return b"".join(text for text, _ in pieces(data)).decode(errors="replace")


def _common_prefix(logs: Sequence[Log]) -> Log:
    """The entries with which all logs begin. Of sorted sequences, what the first and the last have
    in common at the beginning, all have."""
    first, last = min(logs), max(logs)
    pairs = zip(first, last, strict=False)
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _container_in(text: str) -> list[Json] | dict[str, Json] | None:
    """The array or object that `text` is in JSON. None for any other text, for one in which an
    object has a name twice, and for one with numbers or strings that no JSON text here has."""

    def members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        named = dict(pairs)
        if len(named) < len(pairs):
            raise ValueError("a name comes twice")
        return named

    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        value = json.loads(text, object_pairs_hook=members)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return value


def _whole_characters(text: bytes) -> bytes:
    """`text` without an incomplete UTF-8 character at its end."""
    for size in range(1, min(4, len(text) + 1)):
        lead = text[-size]
        if lead >= 0xC0:
            need = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return text if need <= size else text[:-size]
        if lead < 0x80:
            return text
    return text
