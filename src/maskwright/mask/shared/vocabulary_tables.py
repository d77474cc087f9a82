"""What all grammars over one vocabulary share: leaf automata, mask rows, ready rows of strings."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from threading import RLock
from typing import Final

import numpy as np

from maskwright.automaton.finish.distinct_bounds import UNFINISHED
from maskwright.automaton.json.levels import Levels
from maskwright.automaton.leaf.keys import Entry, Text
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.number.spellings import number
from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.derivative import made
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular, alive
from maskwright.grammar.regular.word_lists import has_minimal_escapes
from maskwright.grammar.shape.scalars import lone_scalars
from maskwright.limits import Limits
from maskwright.mask.ready_rows.runs import CharacterRun
from maskwright.mask.ready_rows.strings import (
    NARROW,
    StringRows,
    characters_left,
    is_within,
    term_within,
)
from maskwright.mask.ready_rows.text_rows import TextRows
from maskwright.mask.shared.known_tools import KnownTools
from maskwright.mask.shared.leaf_bounds import ENDLESS, LeafBounds
from maskwright.mask.shared.machine import SharedMachine
from maskwright.mask.walk.arrays import PrecomputedMask, Scratch, SiblingTable, Spelling
from maskwright.mask.walk.row_table import RowTable
from maskwright.vocab import Vocabulary
from maskwright.vocab.trie import SiblingTrie
from maskwright.vocab.vocabulary import WORTH_KEEPING

MOST_LEAVES: Final = 40_000
"""Leaf states after which new grammars get new tables; the old ones are freed with their grammars.
With everything that refers to them they took about 1.2 KB each over 240 MaskBench schemas."""
MOST_ROW_BYTES: Final = 32 << 20
"""Bytes of mask rows after which new grammars get new tables."""
MOST_TERMS: Final = 60_000
"""Regular terms after which new grammars get new tables: a leaf state keeps all its derivatives."""
MOST_TRANSITIONS: Final = 400_000
"""Transitions computed after which new grammars get new tables; each takes some 140 bytes."""

MOST_KNOWN_BYTES: Final = 48 << 20
"""Bytes of shared machines (see `mask.shared.machine`) after which new grammars start new ones."""

NOTHING: Final = PrecomputedMask(0, 0, 0, 0)

_UTF_8: Final = frozenset((*range(0xC0), *range(0xC2, 0xF5)))


class VocabularyTables:
    """One vocabulary's tables. `lock` guards them all; holders keep it for short work only."""

    def __init__(self, vocabulary: Vocabulary, before: VocabularyTables | None = None) -> None:
        """`before`: earlier tables of this vocabulary, whose trie and ready rows are taken over.

        All tables are made here, so that the time is spent in a compilation and not in a mask.
        """
        self.vocabulary = vocabulary
        self.lock = RLock()
        self.leaves = LeafTable()
        self.rows = RowTable(vocabulary.words)
        self.trie = vocabulary.trie
        self.all_tokens = before.all_tokens if before else SiblingTable(SiblingTrie.of(self.trie))
        self.spelling = before.spelling if before else Spelling.of(vocabulary)
        self.strings = before.strings if before else StringRows(vocabulary)
        self._leaving = (
            before._leaving if before else SiblingTable(SiblingTrie.of(self.strings.leaving))
        )
        self.tools = KnownTools()
        self.scratch: Final = Scratch.of(self.trie.height, vocabulary.words)
        """The scratch memory of all walks, of which there is one at a time."""
        self.leaf_bounds = LeafBounds()
        self._precomputed: dict[int, PrecomputedMask | None] = {}
        self._json_machines: dict[Hashable, tuple[Levels, SharedMachine]] = {}
        self._every_byte = np.ones(768, np.uint8)
        self._terms = alive()
        self._made = made()
        if vocabulary.size >= WORTH_KEEPING:
            _ = self._leaving  # nearly every grammar has strings, and no mask should wait for them
            _ = self.texts

    @cached_property
    def prefixes(self) -> frozenset[bytes]:
        """All non-empty proper prefixes of tokens."""
        return frozenset(t[:n] for t in self.vocabulary.tokens for n in range(1, len(t)))

    @cached_property
    def has_every_byte(self) -> bool:
        """Whether every byte that occurs in UTF-8 is a token. Then every text can be spelled, and n
        bytes never need more than n tokens."""
        return {token[0] for token in self.vocabulary.tokens if len(token) == 1} >= _UTF_8

    @cached_property
    def texts(self) -> TextRows:
        """The ready rows of plain text, created when they are first needed."""
        return TextRows(self.trie, self.spelling, self.rows)

    def json_machine(self, kind: Hashable, limits: Limits) -> tuple[Levels, SharedMachine]:
        """Return the levels and the machine that JSON Schemas compiled with these options share."""
        if sum(shared.nbytes for _, shared in self._json_machines.values()) > MOST_KNOWN_BYTES:
            self._json_machines.clear()
        known = self._json_machines.get(kind)
        if known is None:
            levels = Levels()
            known = self._json_machines[kind] = levels, SharedMachine(self.leaves, levels, limits)
        return known

    @property
    def is_full(self) -> bool:
        """Whether the tables are so large that new grammars should get new ones."""
        self._terms = min(self._terms, alive())  # terms of earlier tables are freed one by one
        return (
            self.leaves.weight > MOST_LEAVES
            or self.rows.nbytes > MOST_ROW_BYTES
            or alive() - self._terms > MOST_TERMS
            or made() - self._made > MOST_TRANSITIONS
        )

    def precomputed_string(self, leaf: int) -> PrecomputedMask | None:
        """Return the precomputed part of the mask at `leaf`; None if it is not within a string, or
        if the mask depends on the context."""
        if leaf not in self._precomputed:
            self._precomputed[leaf] = self._find_precomputed(leaf)
        return self._precomputed[leaf]

    def _find_precomputed(self, leaf: int) -> PrecomputedMask | None:
        leaves, keys = self.leaves, self.leaves.keys
        if leaves.arrays.gate_high[leaf]:
            return None
        trie = keys.trie(leaf)
        if trie is not None and trie.names.open:  # other names continue from any listed one
            return self.precomputed_string(leaves.state(trie.beyond(leaf)))
        if not is_within(leaf, keys) or has_minimal_escapes(term_within(leaf, keys)):
            return None
        ready = self.rows.ready(self.strings.ready(leaf, keys))
        return PrecomputedMask(*ready, self._leaving.address, int(self._every_byte.ctypes.data))

    def is_text(self, leaf: int) -> bool:
        """Whether plain text is read at `leaf`."""
        return self._text(leaf) is not EMPTY

    def run(self, leaf: int) -> CharacterRun | None:
        """Return the run with the most characters with which plain text may continue at `leaf`."""
        term = self._text(leaf)
        return self.texts.run(term.parts if isinstance(term, Parallel) else (term,))

    def _text(self, leaf: int) -> Regular:
        key = self.leaves.keys[leaf]
        if isinstance(key, Entry):
            return key.text
        return key.term if isinstance(key, Text) and not key.inside else EMPTY

    def bound_in_string(self, leaf: int, limits: Limits) -> int:
        """Return an upper bound in bytes on leaving a string after any token that stays within it
        from `leaf` on; `ENDLESS` if none is known."""
        term = term_within(leaf, self.leaves.keys)
        if characters_left(term) == NARROW:
            farthest = self.strings.farthest(term)
            return ENDLESS if farthest is None else UNFINISHED + 1 + farthest
        text = self.leaves.state(Text(inside=True, term=term))
        return UNFINISHED + self.leaf_bounds.compute(self.leaves, text, limits)


_making = RLock()


def tables_of(vocabulary: Vocabulary) -> VocabularyTables:
    """Return the current tables of a vocabulary. They exist as long as the vocabulary, or a grammar
    that uses them."""
    with _making:
        tables = vocabulary.shared
        if not isinstance(tables, VocabularyTables):
            tables = vocabulary.shared = VocabularyTables(vocabulary)
        elif tables.is_full:
            tables.strings.forget()
            forget_languages()
            tables = vocabulary.shared = VocabularyTables(vocabulary, tables)
        return tables


def forget_languages() -> None:
    """Drop the cached languages of patterns and numbers, which keep all of their derivatives in
    memory. Languages in use by grammars are not affected."""
    for known in (search, full_match, number, lone_scalars):
        known.cache_clear()
