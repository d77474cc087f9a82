"""Reading a value: the leaf of its scalars, and which threads each of them satisfies and leaves."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.json.distinguish import Distinguished, DistinguishedValues
from maskwright.automaton.json.names import entries_of
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.equality import EqualityCandidates, equality_candidates
from maskwright.automaton.value.finite_values import spellings
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.garbage import hide
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    alt,
    complement,
    intersection,
    tagged,
    words,
)
from maskwright.grammar.schema.tree import Json, NotValues, Schema
from maskwright.grammar.shape.shape import Conjunction
from maskwright.immutable import Acyclic

_NONE_DISTINGUISHED: Final = Distinguished({}, (), float("inf"))


class ReadThread(Acyclic):
    """A thread whose value has been read."""

    thread: Thread
    value: str | None
    """The value as canonical JSON, where that is known without looking at the text."""


class ThreadReading(Acyclic):
    """How a thread's value is read: which scalars, and which values are distinguished."""

    thread: Thread
    strings: Regular
    scalars: Regular
    distinguished: frozenset[str] = frozenset()
    """The values that are distinguished, as canonical JSON."""
    excluded: frozenset[str] = frozenset()
    """The values that it must not equal. Neither `strings` nor `scalars` has them, except the
    ones among `words`."""
    words: frozenset[str] = frozenset()
    """The scalars that a label shows: the distinguished ones, and strings that are refused once
    they end."""
    other_strings: bool = True
    """Whether there are strings that no label shows."""
    must_equal_one: bool = False
    """Whether it must equal one of the distinguished values."""
    listed: bool = False
    """Whether `words` has all strings, the excluded ones as well: then a gate keeps these out."""


class ValueReader(Acyclic):
    """Two regular languages, for strings and for other scalars, and what their labels say.

    Where values are distinguished, the languages are tagged: of strings, first the distinguished
    words, then a language for each kind of threads; of other scalars, first a language for each
    distinguished value.
    """

    strings: Regular
    scalars: Regular
    readings: tuple[ThreadReading, ...]
    """The threads of an array or object refer to one of these by index (`Thread.tag`)."""
    kinds: tuple[int, ...]
    """The kind of each reading; readings of one kind are satisfied by equal scalars."""
    words: tuple[str, ...]
    values: tuple[str, ...]
    """The other scalars that a label shows, as `words` has the strings."""
    opened: dict[str, tuple[Thread, ...]]
    """By bracket: the threads of the array or object that it opens, before the first item or
    member; none where no value begins with it."""
    gate: tuple[int, int] | None = None
    """Where all strings are listed: the ones of `words` that may be read now, as bits, and how
    many words there are."""

    @classmethod
    def of(
        cls, threads: Iterable[Thread], solver: Solver, table: DistinguishedValues
    ) -> ValueReader:

        def alive(term: Regular) -> Regular:
            return term if solver.values.is_live(term) else EMPTY

        readings = tuple([_reading(thread, solver, table, True) for thread in threads])
        gated = any(reading.listed for reading in readings)
        if gated and any(not each.listed and each.strings is not EMPTY for each in readings):
            gated = False  # there are strings that no gate can keep out
            threads = [reading.thread for reading in readings]
            readings = tuple([_reading(thread, solver, table, False) for thread in threads])
        if len(readings) == 1 and not (readings[0].words or gated):
            strings, scalars = alive(readings[0].strings), alive(readings[0].scalars)
            return cls(strings, scalars, readings, (0,), (), (), _opened(readings, solver))
        kinds = list(dict.fromkeys(map(_kind, readings)))
        shown = sorted(
            text
            for text in frozenset[str]().union(*(reading.words for reading in readings))
            if text[0] not in "[{"
        )
        texts = [_string(value) for value in shown if value.startswith('"')]
        values = [value for value in shown if not value.startswith('"')]
        strings, scalars = [alive(k.strings) for k in kinds], [alive(k.scalars) for k in kinds]
        string_term = _together(strings) if not texts else EMPTY
        if texts:
            beside = (k.strings if k.other_strings else EMPTY for k in kinds)
            string_term = tagged((words(texts), *beside), named=True)
        scalar_term = _together(scalars) if not values else EMPTY
        if values:
            parts = [intersection(alt(*scalars), spellings(value)) for value in values]
            parts += [EMPTY] * (len(values) == 1)  # so that the label is longer than one of strings
            scalar_term = tagged((*parts, *scalars))
        texts.sort()
        return cls(
            string_term,
            scalar_term,
            readings,
            tuple(kinds.index(_kind(reading)) for reading in readings),
            tuple(texts),
            tuple(values),
            _opened(readings, solver),
            _gate(texts, readings) if gated else None,
        )

    @property
    def threads(self) -> tuple[Thread, ...]:
        return tuple(reading.thread for reading in self.readings)

    def read(self, label: Hashable) -> list[ReadThread]:
        """The threads that a scalar satisfies."""
        if not isinstance(label, tuple):
            return [ReadThread(r.thread, None) for r in self.readings]
        entries = entries_of(label)
        beside = len(entries) - max(self.kinds) - 1
        flags = entries[beside:]
        value = self._shown(entries[:beside])
        return [
            ReadThread(reading.thread, value)
            for reading, kind in zip(self.readings, self.kinds, strict=True)
            if value in reading.distinguished or (flags[kind] and value not in reading.excluded)
        ]

    def _shown(self, entries: tuple[int, ...]) -> str | None:
        """The value that a label shows; `entries` are the ones before the entries of the kinds."""
        if len(entries) == 1:
            return json.dumps(self.words[entries[0] - 1]) if entries[0] else None
        pairs = zip(self.values, entries, strict=False)
        return next((value for value, flag in pairs if flag), None)


def _opened(readings: Iterable[ThreadReading], solver: Solver) -> dict[str, tuple[Thread, ...]]:
    """By bracket: a thread for each array or object that it may open, before its first item or
    member. The tags are indexes of `readings`."""
    threads: dict[str, dict[Thread, None]] = {"{": {}, "[": {}}
    for tag, reading in enumerate(readings):
        value = reading.thread.value
        if value is None:
            continue
        against: dict[str, EqualityCandidates] = {}
        if reading.excluded or reading.distinguished or reading.must_equal_one:
            values = reading.excluded, reading.distinguished
            against = {bracket: equality_candidates(*values, bracket) for bracket in "{["}
        starts = [*solver.values.containers(value)]
        scalars = reading.strings is not EMPTY or reading.scalars is not EMPTY
        is_lone = len(starts) == 1 and not (scalars or against)
        for start in starts:
            bracket, progress = "{" if isinstance(start, ObjectProgress) else "[", start
            if against:
                must = reading.must_equal_one
                progress = replace(start, candidates=against[bracket], must_equal_one=must)
            # That a value has an instance has been found out before the value is read.
            if solver.satisfiable(value) if is_lone else solver.can_complete(progress):
                threads[bracket][Thread(tag, progress)] = None
    return hide({bracket: hide(tuple(found)) for bracket, found in threads.items()})


class _ScalarKind(Acyclic):
    strings: Regular
    scalars: Regular
    words: frozenset[str]
    other_strings: bool


def _kind(reading: ThreadReading) -> _ScalarKind:
    return _ScalarKind(reading.strings, reading.scalars, reading.words, reading.other_strings)


def _gate(texts: list[str], readings: tuple[ThreadReading, ...]) -> tuple[int, int]:
    alive = frozenset[str]().union(*(reading.distinguished for reading in readings))
    bits = sum(1 << at for at, text in enumerate(texts) if _text(text) in alive)
    return bits, len(texts)


def _reading(
    thread: Thread, solver: Solver, table: DistinguishedValues, gated: bool
) -> ThreadReading:
    """Which values of a thread need a label and which are excluded, so that the container around
    can be completed.

    `gated`: where all strings are listed, the excluded ones stay in the list, so that one list of
    words serves every item, whichever have come before.
    """
    value = thread.value
    assert value is not None
    shape = solver.values.shapes.normal_form(value)
    if thread.is_free:
        return ThreadReading(thread, shape.strings, shape.scalars)
    after, watched = thread.progress, thread.is_watched
    known = _NONE_DISTINGUISHED
    if watched and isinstance(after, ArrayProgress) and after.unique:
        known = table.after(after)
    unique = isinstance(after, ArrayProgress) and after.unique
    finite = solver.values.finite_values(value)
    few = frozenset(map(_text, finite.strings or ()))
    listed = gated and unique and bool(few)
    texts = {
        *known.scalars,
        *known.containers,
        *thread.seen,
        *(text for text, _ in thread.by_value),
    }
    texts |= few if listed else frozenset()
    here = texts & few | {text for text in texts - few if _may_be(value, text, solver)}

    def leads_on(text: str | None) -> bool:
        following = thread.after_value(text)
        progress = None if following is None else following.progress
        return progress is not None and solver.can_complete(progress)

    alike = here - thread.seen - {text for text, _ in thread.by_value}
    if len(alike) > 1 and _all_lead_on(thread, next(iter(alike)), solver):
        alive = frozenset(alike | {text for text in here - alike - thread.seen if leads_on(text)})
    else:
        alive = frozenset(text for text in here if leads_on(text))
    excluded = frozenset(here - alive)
    others = leads_on(None)
    strings, scalars = shape.strings, shape.scalars
    words = alive
    if listed:
        words |= few
    elif not others:
        strings = intersection(strings, _all_strings(alive))
    elif strings is ANYTHING:  # each may be the beginning of a longer one: only its end is refused
        words |= {text for text in excluded if text[0] == '"'}
    else:
        strings = intersection(strings, complement(_all_strings(excluded)))
    dead: list[Json] = [json.loads(text) for text in excluded if text[0] not in '"[{']
    if not others:
        scalars = intersection(scalars, _all_scalars(alive))
    elif dead:
        none = Schema("", (NotValues(tuple(dead)),))
        scalars = solver.values.shapes.normal_form(value | {none}).scalars
    other_strings = others and (finite.strings is None or not few <= words)
    for values in (alive, excluded, words):
        hide(values)
    return ThreadReading(
        thread, strings, scalars, alive, excluded, words, other_strings, not others, listed
    )


def _all_lead_on(thread: Thread, text: str, solver: Solver) -> bool:
    """Whether the array around can surely be completed after each item that hasn't been read
    before, like `text`, and that no candidate for equality has: there are values enough, whichever
    have been read."""
    following = thread.after_value(text)
    progress = None if following is None else following.progress
    return (
        isinstance(progress, ArrayProgress)
        and progress.unique
        and not (progress.candidates or progress.must_equal_one)
        and solver.cardinality.suffices(progress)
    )


def _may_be(value: Conjunction, text: str, solver: Solver) -> bool:
    """Whether a scalar satisfies a conjunction; an array or object may turn out not to."""
    return text[0] in "[{" or solver.search.equal_to(value, text) is not None


@lru_cache(maxsize=20_000)
def _text(string: str) -> str:
    """A string as JSON; a long list of them is asked for with each item of an array."""
    return json.dumps(string)


@lru_cache(maxsize=20_000)
def _string(text: str) -> str:
    """The string that a text of JSON spells."""
    return json.loads(text)


def _all_strings(texts: Iterable[str]) -> Regular:
    return words([_string(text) for text in texts if text.startswith('"')])


def _all_scalars(texts: Iterable[str]) -> Regular:
    return alt(*(spellings(text) for text in texts if text[0] not in '"[{'))


def _together(terms: list[Regular]) -> Regular:
    return terms[0] if len(terms) == 1 else tagged(tuple(terms))


_Fulfilled = tuple[int, ...]
"""How far each requirement is fulfilled, where more is never worse."""


def drop_dominated(threads: Iterable[Thread]) -> tuple[Thread, ...]:
    """The threads, none of which is in the middle of a value, without the dominated ones: all that
    they can still become, another thread can become as well.

    An item or member that may fulfil several requirements makes a thread for each set of them. Once
    its value is known, the thread that has fulfilled the most of them is as good as all the others.
    """
    threads = tuple(threads)
    if len(threads) < 2:
        return threads
    known = [_split(thread) for thread in threads]
    alike: dict[Thread, list[_Fulfilled]] = {}
    for plain, fulfilled in known:
        alike.setdefault(plain, []).append(fulfilled)
    return tuple(
        thread
        for thread, (plain, fulfilled) in zip(threads, known, strict=True)
        if not any(_dominates(other, fulfilled) for other in alike[plain])
    )


def _split(thread: Thread) -> tuple[Thread, _Fulfilled]:
    """A thread as if it had fulfilled nothing, and what it has fulfilled."""
    progress: Progress | None = thread.progress
    fulfilled: _Fulfilled = ()
    if isinstance(progress, ObjectProgress) and progress.fulfilled:
        fulfilled = tuple(progress.fulfilled >> at & 1 for at in range(len(progress.shape.some)))
        progress = replace(progress, fulfilled=0)
    elif isinstance(progress, ObjectProgress):
        fulfilled = (0,) * len(progress.shape.some)
    elif isinstance(progress, ArrayProgress) and progress.counts:
        pairs = list(zip(progress.shape.contains, progress.counts, strict=True))
        fulfilled = tuple(count for each, count in pairs if each.most is None)
        bound = tuple(0 if each.most is None else count for each, count in pairs)
        progress = replace(progress, counts=bound)
    return replace(thread, progress=progress), fulfilled


def _dominates(left: _Fulfilled, right: _Fulfilled) -> bool:
    return left != right and all(mine >= its for mine, its in zip(left, right, strict=True))
