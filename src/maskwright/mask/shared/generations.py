"""Generations of a vocabulary's tables: what is remembered of grammars, forgotten bit by bit.

New grammars are added to the newest generation. When it has its share of the memory, another one is
begun; when all of them together take too much, one is retired. Its memory is free once the
matchers that are at work in it are done: a grammar that is used again begins afresh in the newest.

To free so many objects takes some ten milliseconds. So it is left to the next full garbage
collection, which a server makes while no request waits, unless another generation is retired first.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from operator import attrgetter
from random import Random
from threading import RLock
from typing import Final
from weakref import ref

from maskwright.grammar.schema.tree import Schema
from maskwright.mask.shared.vocabulary_tables import (
    VocabularyParts,
    VocabularyTables,
    forget_languages,
)
from maskwright.vocab import Vocabulary

MOST_BYTES: Final = 88 << 20
"""Estimated bytes of all generations of one vocabulary; some 300 MaskBench schemas. What they
take of resident memory was 1.6 times as much."""
_LAPS: Final = 4
"""A use counts until so many times the number of living generations have been begun after it."""
LOOKED_AT_EVERY: Final = 4
"""Grammars compiled between two looks at the bytes of the newest generation. A look takes 3 % of
what a median MaskBench schema takes to its first mask."""
_CHECKED_EVERY: Final = 16
"""Grammars compiled between two looks at the bytes of all generations, which grow in use."""


class Generations:
    """The generations of one vocabulary, the newest last. Thread-safe."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._parts = VocabularyParts(vocabulary)
        self._lock = RLock()
        self._clock, self._added = count(1), count(1)
        self._begun = 0
        """Generations begun so far."""
        self._random = Random(0)
        self._retired: ref[VocabularyTables] | None = None
        """The last that left, while a garbage collection may still free it."""
        self.all: list[VocabularyTables] = [VocabularyTables(self._parts)]

    def newest(self) -> VocabularyTables:
        """The tables to which a new grammar is added."""
        with self._lock:
            now, added = next(self._clock), next(self._added)
            full = added % LOOKED_AT_EVERY == 0 and self.all[-1].is_full
            if full:
                self.all.append(VocabularyTables(self._parts))
                self._begun += 1
            if full or added % _CHECKED_EVERY == 0:
                self._make_room()
            self.all[-1].last_use = now
            return self.all[-1]

    def knowing(self, kind: Hashable, root: Schema) -> VocabularyTables | None:
        """The newest tables that know a schema with these options; None if none do."""
        for tables in reversed(self.all):
            if tables.knows(kind, root):
                self.use_again(tables)
                return tables
        return None

    def use_again(self, tables: VocabularyTables) -> None:
        """Note that something is used again which tables know."""
        tables.last_use = next(self._clock)
        tables.used_again = self._begun

    def retire(self, tables: VocabularyTables) -> None:
        """Let go of tables; grammars that have them begin afresh when they are used again."""
        with self._lock:
            tables.is_retired = True
            if tables in self.all:
                self.all.remove(tables)
                forget_languages()
                before = self._retired and self._retired()
                if before is not None:
                    before.left_to_collector = None
                tables.left_to_collector = tables
                self._retired = ref(tables)
            if not self.all:
                self.all.append(VocabularyTables(self._parts))

    @property
    def nbytes(self) -> int:
        """Estimated bytes of all generations."""
        return sum(tables.nbytes for tables in self.all)

    def _make_room(self) -> None:
        held = self.nbytes
        while held > MOST_BYTES and len(self.all) > 1:
            least = self._least_useful()
            held -= least.nbytes
            self.retire(least)

    def _least_useful(self) -> VocabularyTables:
        """The generation to retire, which isn't the newest.

        One that takes half of the memory alone goes first. Then any one whose grammars have not
        been used again for long, chosen at random: when more schemas come round in a circle than
        there is room for, some are still known. Of the others, the least recently used.
        """
        candidates = self.all[:-1]
        largest = max(candidates, key=attrgetter("nbytes"))
        if largest.nbytes > MOST_BYTES // 2:
            return largest
        long_ago = self._begun - _LAPS * len(self.all)
        unused = [
            tables
            for tables in candidates
            if tables.used_again is None or tables.used_again < long_ago
        ]
        if unused:
            return self._random.choice(unused)
        return min(candidates, key=attrgetter("last_use"))


_making = RLock()


def generations_of(vocabulary: Vocabulary) -> Generations:
    """The generations of a vocabulary's tables; they live as long as it does."""
    found = vocabulary.shared
    if not isinstance(found, Generations):
        with _making:
            found = vocabulary.shared
            if not isinstance(found, Generations):
                found = vocabulary.shared = Generations(vocabulary)
    return found


def tables_of(vocabulary: Vocabulary) -> VocabularyTables:
    """The tables to which a new grammar over a vocabulary is added."""
    return generations_of(vocabulary).newest()
