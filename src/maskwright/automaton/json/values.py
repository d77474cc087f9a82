"""Reading a value: the leaf of its scalars, and which threads each of them satisfies."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from maskwright.automaton.json.distinguish import DistinguishedValues, Told
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.equality import NONE, equality_candidates
from maskwright.automaton.value.finite_values import spellings
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    alt,
    both,
    complement,
    vector,
    words,
)
from maskwright.grammar.schema.tree import Json, NotValues, Schema
from maskwright.grammar.shape.shape import Conjunction

_NONE_TOLD: Final = Told({}, (), float("inf"))


class Read(NamedTuple):
    """A thread whose value has been read."""

    thread: Thread
    value: str | None
    """The value as canonical JSON, where that is known without looking at the text."""


class Reading(NamedTuple):
    """How a thread's value is read."""

    thread: Thread
    strings: Regular
    scalars: Regular
    told: frozenset[str] = frozenset()
    """The values that are told apart, as canonical JSON."""
    barred: frozenset[str] = frozenset()
    """The values that it must not be, which are none of `strings` or `scalars`, but for those
    among `words`."""
    words: frozenset[str] = frozenset()
    """The scalars that show in a label: those told apart, and strings that are refused at their
    end."""
    other_strings: bool = True
    """Whether there are strings that are not told apart."""
    must_equal_one: bool = False
    """Whether it must be one of those told apart."""
    listed: bool = False
    """Whether `words` has all strings, those that it must not be as well: a gate keeps them out."""

    def containers(self, bracket: str, solver: Solver) -> Iterator[Progress]:
        """The arrays or objects that it may be, at their start."""
        if self.thread.value is None:
            return
        apart = bool(self.barred or self.told or self.must_equal_one)
        against = equality_candidates(self.barred, self.told, bracket) if apart else NONE
        for start in solver.values.containers(self.thread.value):
            if isinstance(start, ObjectProgress) is (bracket == "{"):
                found = start
                if apart:
                    found = start._replace(candidates=against, must_equal_one=self.must_equal_one)
                if solver.can_complete(found):
                    yield found


@dataclass(frozen=True, slots=True)
class ValueReader:
    """Two regular languages, for strings and for other scalars, and what their labels say.

    Where values are told apart these are vectors: of strings first the words that are, then a
    language for each kind of threads; of the others first a language for each such value.
    """

    strings: Regular
    scalars: Regular
    readings: tuple[Reading, ...]
    """An array or object belongs to one of these, by its index."""
    kinds: tuple[int, ...]
    """The kind of each reading: equal kinds are satisfied by the same scalars."""
    words: tuple[str, ...]
    values: tuple[str, ...]
    """The strings and the other scalars that are told apart."""
    gate: tuple[int, int] | None = None
    """Where the strings are listed, those of `words` that may be read, as bits; how many there
    are."""

    @classmethod
    def of(
        cls, threads: Iterable[Thread], solver: Solver, told: DistinguishedValues
    ) -> ValueReader:
        readings = tuple(_reading(thread, solver, told, True) for thread in threads)
        gated = any(r.listed for r in readings) and not any(map(_is_open, readings))
        if not gated and any(r.listed for r in readings):
            threads = [reading.thread for reading in readings]
            readings = tuple(_reading(thread, solver, told, False) for thread in threads)
        if len(readings) == 1 and not (readings[0].words or gated):
            strings, scalars = readings[0].strings, readings[0].scalars
            return cls(
                strings if solver.values.is_live(strings) else EMPTY,
                scalars if solver.values.is_live(scalars) else EMPTY,
                readings,
                (0,),
                (),
                (),
            )
        kinds = list(dict.fromkeys(map(_kind, readings)))
        apart = sorted(
            text
            for text in frozenset[str]().union(*(reading.words for reading in readings))
            if text[0] not in "[{"
        )
        texts = [json.loads(value) for value in apart if value.startswith('"')]
        values = [value for value in apart if not value.startswith('"')]
        strings = [k.strings if solver.values.is_live(k.strings) else EMPTY for k in kinds]
        scalars = [k.scalars if solver.values.is_live(k.scalars) else EMPTY for k in kinds]
        told_words = _together(strings) if not texts else EMPTY
        if texts:
            beside = (k.strings if k.other_strings else EMPTY for k in kinds)
            told_words = vector((words(texts), *beside), named=True)
        told_values = _together(scalars) if not values else EMPTY
        if values:
            parts = [both(alt(*scalars), spellings(value)) for value in values]
            parts += [EMPTY] * (len(values) == 1)  # labels longer than those of strings
            told_values = vector((*parts, *scalars))
        texts.sort()
        return cls(
            told_words,
            told_values,
            readings,
            tuple(kinds.index(_kind(reading)) for reading in readings),
            tuple(texts),
            tuple(values),
            _gate(texts, readings) if gated else None,
        )

    @property
    def threads(self) -> tuple[Thread, ...]:
        return tuple(reading.thread for reading in self.readings)

    def read(self, label: Hashable) -> list[Read]:
        """The threads that a scalar satisfies."""
        if not isinstance(label, tuple):
            return [Read(r.thread, None) for r in self.readings]
        entries = _entries(label)
        beside = len(entries) - max(self.kinds) - 1
        flags = entries[beside:]
        value = self._told(entries[:beside])
        return [
            Read(reading.thread, value)
            for reading, kind in zip(self.readings, self.kinds, strict=True)
            if value in reading.told or (flags[kind] and value not in reading.barred)
        ]

    def _told(self, entries: tuple[int, ...]) -> str | None:
        """The value that the entries of a label in front of those of the kinds tell."""
        if len(entries) == 1:
            return json.dumps(self.words[entries[0] - 1]) if entries[0] else None
        found = zip(self.values, entries, strict=False)
        return next((value for value, flag in found if flag), None)


class _Kind(NamedTuple):
    strings: Regular
    scalars: Regular
    words: frozenset[str]
    other_strings: bool


def _kind(reading: Reading) -> _Kind:
    return _Kind(reading.strings, reading.scalars, reading.words, reading.other_strings)


def _is_open(reading: Reading) -> bool:
    """Whether there are strings that no gate can keep out."""
    return not reading.listed and reading.strings is not EMPTY


def _gate(texts: list[str], readings: tuple[Reading, ...]) -> tuple[int, int]:
    alive = frozenset[str]().union(*(reading.told for reading in readings))
    bits = sum(1 << at for at, text in enumerate(texts) if json.dumps(text) in alive)
    return bits, len(texts)


def _reading(thread: Thread, solver: Solver, told: DistinguishedValues, gated: bool) -> Reading:
    """What is told apart of a thread's value, and what it must not be, for the rest to be right.

    `gated`: where all its strings are, those that it must not be stay among them, so that it is
    one list of words whichever have come before.
    """
    value = thread.value
    assert value is not None
    shape = solver.values.shapes.of(value)
    if thread.is_free:
        return Reading(thread, shape.strings, shape.scalars)
    after, watched = thread.progress, thread.is_watched
    known = _NONE_TOLD
    if watched and isinstance(after, ArrayProgress) and after.unique:
        known = told.after(after)
    unique = isinstance(after, ArrayProgress) and after.unique
    finite = solver.values.finite_values(value)
    few = frozenset(map(json.dumps, finite.strings or ()))
    listed = gated and unique and bool(few)
    texts = {
        *known.scalars,
        *known.containers,
        *thread.seen,
        *(text for text, _ in thread.by_value),
    }
    texts |= few if listed else frozenset()
    here = {text for text in texts if _may_be(value, text, solver)}

    def leads_on(text: str | None) -> bool:
        following = thread.after_value(text)
        progress = None if following is None else following.progress
        return progress is not None and solver.can_complete(progress)

    alive = frozenset(text for text in here if leads_on(text))
    barred = frozenset(here - alive)
    others = leads_on(None)
    strings, scalars = shape.strings, shape.scalars
    words = alive
    if listed:
        words |= few
    elif not others:
        strings = both(strings, _all_strings(alive))
    elif strings is ANYTHING:  # each may still become a longer one: its end alone is refused
        words |= {text for text in barred if text[0] == '"'}
    else:
        strings = both(strings, complement(_all_strings(barred)))
    dead: list[Json] = [json.loads(text) for text in barred if text[0] not in '"[{']
    if not others:
        scalars = both(scalars, _all_scalars(alive))
    elif dead:
        none = Schema("", (NotValues(tuple(dead)),))
        scalars = solver.values.shapes.of(value | {none}).scalars
    other_strings = others and (finite.strings is None or not few <= words)
    return Reading(
        thread, strings, scalars, alive, barred, words, other_strings, not others, listed
    )


def _may_be(value: Conjunction, text: str, solver: Solver) -> bool:
    """Whether a scalar satisfies a conjunction; an array or object may turn out not to."""
    return text[0] in "[{" or solver.search.equal_to(value, text) is not None


def _all_strings(texts: Iterable[str]) -> Regular:
    return words([json.loads(text) for text in texts if text.startswith('"')])


def _all_scalars(texts: Iterable[str]) -> Regular:
    return alt(*(spellings(text) for text in texts if text[0] not in '"[{'))


def _together(terms: list[Regular]) -> Regular:
    return terms[0] if len(terms) == 1 else vector(tuple(terms))


def _entries(label: Hashable) -> tuple[int, ...]:
    assert isinstance(label, tuple)
    return label
