"""Property names that a shape doesn't list, classified by the languages that they lie in.

The languages are those of `patternProperties`, and of all else that gives names by a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from maskwright.automaton.value.equality import names
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.errors import LimitError
from maskwright.grammar.regular.derivative import contains, is_live
from maskwright.grammar.regular.enumerate import few
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import ANYTHING, Regular, complement, intersection, words
from maskwright.limits import Limits

_MOST_NAMES: Final = 256
"""Names of one class that are listed one by one; classes of more names don't run out."""


class NameClass(NamedTuple):
    """Property names that lie in the same languages: `mask` says in which."""

    mask: tuple[bool, ...]
    language: Regular


class NameClasses:
    """The classes of names of one schema, and the names that they have, each found once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._classes: dict[tuple[Regular, ...], tuple[NameClass, ...]] = {}
        self._few: dict[Regular, tuple[str, ...] | None] = {}
        self._fresh: dict[tuple[Regular, tuple[str, ...]], str | None] = {}

    def of(self, languages: tuple[Regular, ...]) -> tuple[NameClass, ...]:
        """The classes for some languages: the sets of names that lie in equal ones of them. Empty
        classes are left out."""
        if languages not in self._classes:
            self._classes[languages] = tuple(self._partition(languages))
        return self._classes[languages]

    def _partition(self, languages: tuple[Regular, ...]) -> Iterator[NameClass]:
        found: list[tuple[tuple[bool, ...], Regular]] = [((), ANYTHING)]
        for language in languages:
            halves: list[tuple[tuple[bool, ...], Regular]] = []
            for mask, part in found:
                for inside in (True, False):
                    half = intersection(part, language if inside else complement(language))
                    if is_live(half, self._limits.witness_search):
                        halves.append(((*mask, inside), half))
            found = halves
            if len(found) > self._limits.alternatives:
                raise LimitError(
                    "the patterns of property names overlap in too many ways", limit="alternatives"
                )
        for mask, part in found:
            yield NameClass(mask, part)

    def few(self, each: NameClass) -> tuple[str, ...] | None:
        """The names of a class, None if there are too many to run out."""
        if each.language is ANYTHING:
            return None
        if each.language not in self._few:
            self._few[each.language] = few(each.language, _MOST_NAMES)
        return self._few[each.language]

    def of_candidates(self, progress: ObjectProgress) -> Iterator[tuple[str, NameClass]]:
        """The names that some candidate still has and that the shape doesn't list."""
        shape = progress.shape
        for name in names(progress.candidates):
            if name not in shape.names and name not in progress.others:
                mask = tuple(contains(language, name) for language in shape.languages)
                yield name, next(c for c in self.of(shape.languages) if c.mask == mask)

    def fresh(self, progress: ObjectProgress, each: NameClass) -> str | None:
        """The shortest name of a class that the shape doesn't list, that hasn't been read, and that
        no candidate has; None if there is none.

        The empty name is left out. There is only one of it, but several names of any other length:
        so a completion gets no longer while a name is being read that isn't known yet.
        """
        taken = ("", *progress.shape.names, *sorted(progress.others), *names(progress.candidates))
        key = (each.language, taken)
        if key not in self._fresh:
            free = intersection(each.language, complement(words(taken)))
            most = self._limits.witness_search
            self._fresh[key] = shortest(free, most) if is_live(free, most) else None
        return self._fresh[key]
