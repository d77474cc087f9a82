"""Reading a value: the leaf of its scalars, and which threads each of them satisfies."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from maskwright.automaton.level import Thread
from maskwright.automaton.progress import ArrayProgress, none_of, only
from maskwright.automaton.supply import canonical, spellings
from maskwright.automaton.told_apart import ToldApart
from maskwright.automaton.witness import Witnesses
from maskwright.grammar.derivative import contains
from maskwright.grammar.regular import (
    EMPTY,
    Regular,
    alt,
    both,
    complement,
    vector,
    words,
)
from maskwright.grammar.shape import NEVER, Shape, Shapes


class Read(NamedTuple):
    """A thread whose value has been read."""

    thread: Thread
    item: str | None
    """The item as canonical JSON, where that is known without looking at the text."""
    watched: bool
    """Whether the items to come have to differ from this one."""


class _Reading(NamedTuple):
    """One way to read a thread's value; `thread.value` is what arrays and objects may be."""

    thread: Thread
    strings: Regular
    scalars: Regular
    told: frozenset[str] = frozenset()
    """The scalars that are told apart, as canonical JSON."""
    other_strings: bool = True
    """Whether there are strings that are not told apart."""
    watched: bool = False


@dataclass(frozen=True, slots=True)
class ValueReader:
    """Two regular languages, for strings and for other scalars, and what their labels say.

    Where values are told apart these are vectors: of strings first the words that are, then a
    language for each kind of threads; of the others first a language for each such value.
    """

    strings: Regular
    scalars: Regular
    readings: tuple[_Reading, ...]
    """An array or object belongs to one of these, by its index."""
    kinds: tuple[int, ...]
    """The kind of each reading: equal kinds are satisfied by the same scalars."""
    words: tuple[str, ...]
    values: tuple[str, ...]
    """The strings and the other scalars that are told apart."""

    @classmethod
    def of(
        cls, threads: Iterable[Thread], shapes: Shapes, witnesses: Witnesses, told: ToldApart
    ) -> ValueReader:
        readings = tuple(
            r for thread in threads for r in _readings(thread, shapes, witnesses, told)
        )
        kinds = list(dict.fromkeys(map(_kind, readings)))
        apart = sorted(frozenset[str]().union(*(reading.told for reading in readings)))
        texts = [json.loads(value) for value in apart if value.startswith('"')]
        values = [value for value in apart if not value.startswith('"')]
        strings = [k.strings if witnesses.is_live(k.strings) else EMPTY for k in kinds]
        scalars = [k.scalars if witnesses.is_live(k.scalars) else EMPTY for k in kinds]
        told_words = _together(strings) if not texts else EMPTY
        if texts:
            beside = (k.strings if k.other_strings else EMPTY for k in kinds)
            told_words = vector((words(texts), *beside), named=True)
        told_values = _together(scalars) if not values else EMPTY
        if values:
            parts = [both(alt(*scalars), spellings(value)) for value in values]
            parts += [EMPTY] * (len(values) == 1)  # labels longer than those of strings
            told_values = vector((*parts, *scalars))
        return cls(
            told_words,
            told_values,
            readings,
            tuple(kinds.index(_kind(reading)) for reading in readings),
            tuple(sorted(texts)),
            tuple(values),
        )

    @property
    def threads(self) -> tuple[Thread, ...]:
        return tuple(reading.thread for reading in self.readings)

    def container(self, tag: int) -> Read:
        """The thread that an array or object belongs to."""
        return Read(self.readings[tag].thread, None, self.readings[tag].watched)

    def read(self, label: Hashable) -> list[Read]:
        """The threads that a scalar satisfies."""
        if not isinstance(label, tuple):
            return [Read(r.thread, None, r.watched) for r in self.readings]
        entries = _entries(label)
        beside = len(entries) - max(self.kinds) - 1
        flags = entries[beside:]
        item = self._told(entries[:beside])
        word = item is not None and item.startswith('"')
        return [
            Read(reading.thread, item, reading.watched)
            for reading, kind in zip(self.readings, self.kinds, strict=True)
            if (item in reading.told if word else flags[kind])
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
    told: frozenset[str]
    other_strings: bool


def _kind(reading: _Reading) -> _Kind:
    return _Kind(reading.strings, reading.scalars, reading.told, reading.other_strings)


def _readings(
    thread: Thread, shapes: Shapes, witnesses: Witnesses, told: ToldApart
) -> list[_Reading]:
    """The ways to read a thread's value: one, and one more for each container told apart."""
    value, after = thread.value, thread.progress
    if value is None:
        return []
    shape = shapes.of(value)
    if not isinstance(after, ArrayProgress) or not after.unique:
        return [_Reading(thread, shape.strings, shape.scalars)]
    if next(after.options(), None) is None:
        return [_Reading(thread, shape.strings, shape.scalars)]
    known = told.behind(after)
    plenty = known.fewest > len(after.seen) + after.items_needed + 1

    def leads_on(progress: ArrayProgress) -> bool:
        return plenty or witnesses.rest_of(progress) is not None

    here = {item: text for item, text in known.scalars.items() if _is_scalar(shape, text)}
    alive = {item: text for item, text in here.items() if leads_on(after.with_item(item))}
    others = leads_on(after)
    strings, scalars = shape.strings, shape.scalars
    if not others:
        strings = both(strings, _all_strings(alive.values()))
        scalars = both(scalars, _all_scalars(alive.values()))
    elif len(alive) < len(here):
        dead = [text for item, text in here.items() if item not in alive]
        strings = both(strings, complement(_all_strings(dead)))
        scalars = both(scalars, complement(_all_scalars(dead)))
    supply = witnesses.supply(witnesses.item(value))
    other_strings = others and (
        supply.strings is None or any(json.dumps(s) not in known.scalars for s in supply.strings)
    )
    containers = value
    if known.containers:
        excluded = frozenset(map(canonical, known.containers))
        containers = value | {none_of(excluded)}
    main = thread._replace(value=containers if others else NEVER)
    found = [_Reading(main, strings, scalars, frozenset(alive), other_strings, watched=True)]
    for text in known.containers:
        progress = after.with_item(canonical(text))
        exactly_this = value | {only(text)}
        if witnesses.possible(exactly_this) and leads_on(progress):
            found.append(_Reading(Thread(thread.tag, progress, exactly_this), EMPTY, EMPTY))
    return found


def _is_scalar(shape: Shape, text: str) -> bool:
    """Whether a shape allows a scalar, given as JSON."""
    if text.startswith('"'):
        return contains(shape.strings, json.loads(text))
    return contains(shape.scalars, text)


def _all_strings(texts: Iterable[str]) -> Regular:
    return words([json.loads(text) for text in texts if text.startswith('"')])


def _all_scalars(texts: Iterable[str]) -> Regular:
    return alt(*(spellings(text) for text in texts if not text.startswith('"')))


def _together(terms: list[Regular]) -> Regular:
    return terms[0] if len(terms) == 1 else vector(tuple(terms))


def _entries(label: Hashable) -> tuple[int, ...]:
    assert isinstance(label, tuple)
    return label
