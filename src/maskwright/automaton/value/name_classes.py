"""Property names that a shape doesn't list, classified by the languages that they lie in.

The languages come from `patternProperties`, and from all else that gives names by a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.value.equality import names
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.errors import LimitError
from maskwright.grammar.regular.derivative import contains, derivative, is_live
from maskwright.grammar.regular.enumerate import counted_after, few, first
from maskwright.grammar.regular.shortest import shortest_besides
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    complement,
    intersection,
    words,
)
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, Limits, spend

_MOST_NAMES: Final = 256
"""Names of one class that are listed one by one; classes of more names don't run out."""
_MOST_TAKEN: Final = 64
"""Names that are excluded from a class by its language; among more, a free one is picked out, and
so it is where any name will do."""
_ENDLESS: Final = 1_000_000
"""Strings of a language that no text has room for."""
_MOST_LEVELS: Final = 2_000
"""Lengths of strings that are looked at before a language is taken for one that may run out."""


class NameClass(Acyclic):
    """Property names that lie in the same languages: `mask` says in which."""

    mask: tuple[bool, ...]
    language: Regular


class NameClasses:
    """The classes of names of one schema, and the names that they have, each found once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._classes: dict[tuple[Regular, ...], tuple[NameClass, ...]] = {}
        self._few: dict[Regular, tuple[str, ...] | None] = {}
        self._endless: dict[Regular, bool] = {}
        self._shortest: dict[Regular, tuple[int, tuple[str, ...]]] = {}
        self._fresh: dict[tuple[Regular, tuple[str, ...]], str | None] = {}

    def of(self, languages: tuple[Regular, ...]) -> tuple[NameClass, ...]:
        """The classes for some languages: the sets of names that lie in equal ones of them. Empty
        classes are left out."""
        if languages not in self._classes:
            self._classes[languages] = self._find(languages)
        return self._classes[languages]

    def of_name(self, languages: tuple[Regular, ...], name: str) -> NameClass:
        """The class for some languages that has a name."""
        mask = tuple(contains(language, name) for language in languages)
        return next(each for each in self.of(languages) if each.mask == mask)

    def _find(self, languages: tuple[Regular, ...]) -> tuple[NameClass, ...]:
        """The classes, where the names of languages that have few are looked at one by one: so the
        rest is not divided by each of these languages."""
        lists = [self._listed(language) for language in languages]
        if sum(names is not None for names in lists) < 2:
            return tuple(self._partition(languages))
        sets = [None if each is None else frozenset(each) for each in lists]
        endless = [at for at, its in enumerate(sets) if its is None]
        listed: dict[tuple[bool, ...], list[str]] = {}
        for name in frozenset[str]().union(*(each for each in sets if each is not None)):
            spend(1 + len(endless))
            mask = tuple(
                contains(language, name) if its is None else name in its
                for language, its in zip(languages, sets, strict=True)
            )
            listed.setdefault(mask, []).append(name)
        found = [NameClass(mask, words(its)) for mask, its in listed.items()]
        known = words([name for its in listed.values() for name in its])
        for each in self._partition(tuple(languages[at] for at in endless)):
            rest = self._besides(each.language, known)
            if rest is not EMPTY:
                within = {at for at, inside in zip(endless, each.mask, strict=True) if inside}
                found.append(NameClass(tuple(at in within for at in range(len(sets))), rest))
        return tuple(sorted(found, key=lambda each: each.mask, reverse=True))

    def _partition(self, languages: tuple[Regular, ...]) -> Iterator[NameClass]:
        found: list[NameClass] = [NameClass((), ANYTHING)]
        for language in languages:
            halves: list[NameClass] = []
            for each in found:
                mask, part = each.mask, each.language
                inside = self._common(part, language)
                outside = part if inside is EMPTY else self._besides(part, language)
                if inside is not EMPTY:
                    halves.append(NameClass((*mask, True), inside))
                if outside is not EMPTY:
                    halves.append(NameClass((*mask, False), outside))
            found = halves
            if len(found) > self._limits.alternatives:
                raise LimitError(
                    "the patterns of property names overlap in too many ways",
                    limit="alternatives",
                    value=self._limits.alternatives,
                    way_out="use fewer patternProperties that overlap",
                )
        yield from found

    def _common(self, left: Regular, right: Regular) -> Regular:
        """The names in both of two languages; `EMPTY` if there are none."""
        mine, theirs = self._listed(left), self._listed(right)
        if mine is not None and theirs is not None:
            return words([*set(mine).intersection(theirs)])
        if mine is not None:
            return words([name for name in mine if contains(right, name)])
        if theirs is not None:
            return words([name for name in theirs if contains(left, name)])
        return self._unless_empty(intersection(left, right))

    def _besides(self, left: Regular, right: Regular) -> Regular:
        """The names in the first of two languages alone; `EMPTY` if there are none."""
        listed = self._listed(left)
        if listed is not None:
            return words([name for name in listed if not contains(right, name)])
        return self._unless_empty(intersection(left, complement(right)))

    def _unless_empty(self, language: Regular) -> Regular:
        return language if is_live(language, self._limits.witness_search) else EMPTY

    def few(self, each: NameClass) -> tuple[str, ...] | None:
        """The names of a class, None if there are too many to run out."""
        return self._listed(each.language)

    def _listed(self, language: Regular) -> tuple[str, ...] | None:
        if language is ANYTHING:
            return None
        if language not in self._few:
            self._few[language] = few(language, _MOST_NAMES)
        return self._few[language]

    def is_endless_after(self, each: NameClass, name: str) -> bool:
        """Whether so many names of a class begin with `name` that no text uses them up."""
        if each.language is ANYTHING:
            return True
        rest = derivative(each.language, name)
        known = self._endless.get(rest)
        if known is None:
            known = self._endless[rest] = _is_endless(rest)
        return known

    def of_candidates(self, progress: ObjectProgress) -> Iterator[tuple[str, NameClass]]:
        """The names that some candidate still has and that the shape doesn't list."""
        shape = progress.shape
        for name in names(progress.candidates):
            if name not in shape.names and name not in progress.others:
                yield name, self.of_name(shape.languages, name)

    def fresh(self, progress: ObjectProgress, each: NameClass) -> str | None:
        """The shortest name of a class that the shape doesn't list, that hasn't been read, and that
        no candidate has; None if there is none.

        The empty name is the last choice. There is only one of it, but several names of any other
        length: so a completion gets no longer while a name is being read that isn't known yet.
        """
        others, named = progress.others, tuple(names(progress.candidates))
        count = _count_taken(progress)
        if each.language is ANYTHING or count > _MOST_TAKEN:
            listed = {"", *progress.shape.names, *named}
            shortest_names = self._shortest_of(each, count)
            found = next((n for n in shortest_names if n not in others and n not in listed), None)
            if found is not None:
                return found
        taken = ("", *progress.shape.names, *sorted(others), *named)
        key = (each.language, taken)
        if key not in self._fresh:
            most = self._limits.witness_search
            found = shortest_besides(each.language, taken, most)
            has_empty = "" not in taken[1:] and contains(each.language, "")
            self._fresh[key] = "" if found is None and has_empty else found
        return self._fresh[key]

    def many_fresh(
        self, progress: ObjectProgress, each: NameClass, most: int
    ) -> tuple[str, ...] | None:
        """The names that `fresh` gives one after the other, `most` of them; None if it isn't known
        without excluding each of them from the language of the class."""
        found: list[str] = []
        while len(found) < most:
            spend(CHEAP)
            following = replace(progress, others=progress.others | {*found})
            if _count_taken(following) > _MOST_TAKEN:
                break
            name = self.fresh(following, each)
            if name is None:
                return None
            found.append(name)
        taken = {"", *progress.shape.names, *progress.others, *found, *names(progress.candidates)}
        least = _count_taken(progress) + most
        free = (name for name in self._shortest_of(each, least) if name not in taken)
        found += islice(free, most - len(found))
        return tuple(found) if len(found) == most else None

    def _shortest_of(self, each: NameClass, least: int) -> tuple[str, ...]:
        """More than `least` of the shortest names of a class, if it has so many."""
        length, found = self._shortest.get(each.language, (0, ()))
        if length <= least:
            length = 2 * least
            found = first(each.language, length)
            self._shortest[each.language] = length, found
        return found


def _count_taken(progress: ObjectProgress) -> int:
    """How many names can't come any more, the empty one included."""
    candidates = sum(1 for _ in names(progress.candidates))
    return 1 + len(progress.shape.names) + len(progress.others) + candidates


def _is_endless(term: Regular) -> bool:
    """Whether a language has more strings than any text has room for.

    The beginnings of each length are counted by state; different ones end in different strings. A
    set of states that comes again belongs to a cycle, so that there is no end of strings.
    """
    level = {term: 1}
    seen: set[frozenset[Regular]] = set()
    for _ in range(_MOST_LEVELS):
        spend(1 + len(level))
        states = frozenset(level)
        if sum(level.values()) > _ENDLESS or (level and states in seen):
            return True
        if not level:
            return False
        seen.add(states)
        level = counted_after(level)
    return False
