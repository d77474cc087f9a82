"""Events of captures, from the leaves that a text leaves.

As long as the rules leave open how a text is to be read, each *thread* (a step of the start rule
that a set of the machine holds) has *logs* of where captures began and ended; what all of them
agree on has happened. Captures of rules that others call are brought into the start rule before
(`grammar.capture_rules`); those of recursive rules are not reported: one text may be read by such a
rule in several places at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import Final, NamedTuple

from maskwright.automaton.events.events import CaptureBegun, CaptureEnded, CaptureText, Event
from maskwright.automaton.leaf.special_tokens import pieces
from maskwright.automaton.machine.trace import Left
from maskwright.automaton.rules.contexts import Began, Mark, Read, Reading, RuleContexts, Waiting
from maskwright.automaton.rules.item_sets import BELOW, WHOLE, Place, Return
from maskwright.automaton.rules.nodes import Call, Edge, Symbol

MOST_LOGS: Final = 64
"""Readings of one text that are told apart in one place."""


class Passed(NamedTuple):
    """A capture began or ended behind `at` bytes of text."""

    at: int
    ends: bool
    name: str


Log = tuple[Passed, ...]


class Thread(NamedTuple):
    """The start rule waits for `symbol`, then goes on at `place`."""

    symbol: Symbol
    place: Place


THE_END: Final = None
"""The thread of a start rule that may be over."""

Threads = dict[Thread | None, set[Log]]


@dataclass(slots=True)
class _Open:
    """A capture that has begun."""

    name: str
    start: int
    told: int


class CaptureReader:
    """Follows one text, which grows, through the rules of one grammar."""

    def __init__(self, contexts: RuleContexts, text: bytearray) -> None:
        self._contexts = contexts
        self._network = contexts.network
        self._sets = contexts.sets
        self._text = text
        self._told: list[_Open] = []
        """The captures that have been told to begin, and not to end."""
        self._threads: Threads = defaultdict(set)
        start = self._network.start
        whole = Place(self._network.starts[start], (), Return(start, WHOLE))
        self._go_on(whole, {()}, 0, self._threads)

    def left(self, left: Left, stack: list[int]) -> None:
        """A leaf or a context is about to be left; `stack` is the contexts, the innermost last."""
        if left.label is Mark.COMPLETE:
            self._threads = defaultdict(set, {THE_END: self._threads[THE_END]})
        elif isinstance(self._contexts.context(left.context), Reading | Waiting) and not isinstance(
            left.label, Began
        ):
            self._move(left, stack)

    def _move(self, left: Left, stack: list[int]) -> None:
        read = self._contexts.read(left.context, left.label)
        found: Threads = defaultdict(set)
        for thread in self._calling(read, stack[:-1]):
            found[thread] |= self._threads.get(thread, set())
        for before, item in read.kept:
            place = Place(item.next, item.counters, item.then)
            logs = self._threads.get(Thread(before, place))
            if logs:
                found[Thread(item.symbol, place)] |= logs
        seen: set[tuple[Symbol, Place]] = set()
        for symbol, place in read.ended:
            self._end(symbol, place, left.at, found, seen)
        self._threads = found

    def _end(
        self,
        symbol: Symbol,
        place: Place,
        at: int,
        found: Threads,
        seen: set[tuple[Symbol, Place]],
    ) -> None:
        """`symbol` has been read, and its rule goes on at `place`."""
        if (symbol, place) in seen:
            return
        seen.add((symbol, place))
        rule, kernel = place.then
        if kernel == WHOLE:
            self._go_on(place, self._threads.get(Thread(symbol, place), set()), at, found)
        elif kernel != BELOW and self._network.expand(place.node, place.counters).ends:
            for waiting in self._sets.outlook(kernel).waiting[rule]:
                self._end(Call(rule), waiting, at, found, seen)

    def _go_on(self, place: Place, logs: set[Log], at: int, found: Threads) -> None:
        if not logs:
            return
        for step, edges in self._network.ways(place.node, place.counters):
            passed = tuple(
                Passed(at - len(edge.tail.encode()) if edge.ends else at, edge.ends, edge.name)
                for edge in edges
            )
            thread = THE_END
            if step is not None:
                thread = Thread(step.symbol, Place(step.next, step.counters, place.then))
            room = MOST_LOGS - len(found[thread])
            found[thread] |= {(*log, *passed) for log in islice(sorted(logs), room)}

    def _calling(self, read: Read, below: list[int]) -> Iterator[Thread]:
        """The threads that wait for a rule of which something has been read: what has just been
        read returns to them, or what stands above one of the contexts `below`."""
        kernels = [place.then.kernel for _, place in read.ended]
        kernels += [item.then.kernel for _, item in read.kept]
        for context in map(self._contexts.context, below):
            if isinstance(context, Reading | Waiting):
                kernels.append(context.kernel)
        seen: set[int] = set()
        while kernels:
            kernel = kernels.pop()
            if kernel in seen or kernel in (BELOW, WHOLE):
                continue
            seen.add(kernel)
            for item in self._sets.kernel(kernel):
                kernels.append(item.then.kernel)
                if isinstance(item.symbol, Call) and item.then.kernel == WHOLE:
                    yield Thread(item.symbol, Place(item.next, item.counters, item.then))

    # What all logs agree on

    def marks(self) -> Iterator[Event]:
        """The beginnings and ends that have become certain since the last call."""
        logs = [log for logs in self._threads.values() for log in logs]
        agreed = _common_beginning(logs)
        for passed in agreed:
            yield from self._tell(passed.at)
            if passed.ends:
                one = self._told.pop()
                assert one.name == passed.name, "captures nest"
                yield CaptureEnded(one.name, self._plain(one.start, passed.at))
            else:
                self._told.append(_Open(passed.name, passed.at, passed.at))
                yield CaptureBegun(passed.name)
        if agreed:
            count = len(agreed)
            rest = {t: {log[count:] for log in logs} for t, logs in self._threads.items()}
            self._threads = defaultdict(set, rest)

    def pieces(self, *, final: bool = False) -> Iterator[Event]:
        """The text of open captures that is certain: no tail has begun there, no character. If the
        text is `final`, that is all of it."""
        undecided = [log[0].at for logs in self._threads.values() for log in logs if log]
        stop = len(self._text) if final else min([*undecided, len(self._text)])
        for one in self._told:
            held = 0 if final else self._held(one, stop)
            yield from self._tell_one(one, stop - held)

    def _tell(self, stop: int) -> Iterator[Event]:
        """The text of open captures up to `stop`, which is theirs."""
        for one in self._told:
            yield from self._tell_one(one, stop)

    def _tell_one(self, one: _Open, stop: int) -> Iterator[Event]:
        if stop > one.told:
            text = self._plain(one.told, stop)
            one.told = stop
            if text:
                yield CaptureText(one.name, text)

    def _held(self, one: _Open, stop: int) -> int:
        """Bytes before `stop` that may turn out to be the tail's, or are part of a character."""
        text = bytes(self._text[one.told : stop])
        held = 0
        for tail in self._tails.get(one.name, ()):
            held = max(held, next(n for n in range(len(tail), -1, -1) if text.endswith(tail[:n])))
        whole = text[: len(text) - held]
        return held + len(whole) - len(_whole_characters(whole))

    @cached_property
    def _tails(self) -> dict[str, set[bytes]]:
        found: dict[str, set[bytes]] = defaultdict(set)
        for node in self._network.nodes:
            if isinstance(node, Edge) and node.ends:
                found[node.name].add(node.tail.encode())
        return found

    def _plain(self, start: int, stop: int) -> str:
        """The text, special tokens left out."""
        data = bytes(self._text[start:stop])
        return b"".join(text for text, _ in pieces(data)).decode(errors="replace")


def _common_beginning(logs: Sequence[Log]) -> Log:
    first, last = min(logs), max(logs)
    pairs = zip(first, last, strict=False)
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _whole_characters(text: bytes) -> bytes:
    """`text` without a character that is cut off at its end."""
    for size in range(1, min(4, len(text) + 1)):
        lead = text[-size]
        if lead >= 0xC0:
            need = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return text if need <= size else text[:-size]
        if lead < 0x80:
            return text
    return text
