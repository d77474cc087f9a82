"""What grammars over one vocabulary share: leaf automata, mask rows, ready rows of strings."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from threading import RLock
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.finish.distinct_bounds import UNFINISHED
from maskwright.automaton.json.levels import Levels
from maskwright.automaton.json.remembered_names import names_within
from maskwright.automaton.leaf.keys import Entry, Text
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Contexts
from maskwright.automaton.machine.machine import Machine
from maskwright.garbage import hide
from maskwright.grammar.number.spellings import number
from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.derivative import forget_transitions, made
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular, State, Words, alive
from maskwright.grammar.regular.word_lists import has_minimal_escapes
from maskwright.grammar.schema.recent import RECENT
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.containers import has_name
from maskwright.grammar.shape.scalars import lone_scalars
from maskwright.limits import Limits
from maskwright.mask.ready_rows.strings import (
    NARROW,
    StringRows,
    characters_left,
    is_within,
    term_within,
)
from maskwright.mask.ready_rows.text_rows import (
    FEWEST,
    CharacterRun,
    TextRows,
    TokenTexts,
    following,
)
from maskwright.mask.shared.known_tools import KnownTools
from maskwright.mask.shared.leaf_bounds import ENDLESS, CertainTokens, LeafBounds, NodeBounds
from maskwright.mask.shared.machine import SharedMachine
from maskwright.mask.walk.name_endings import characters_before_quote
from maskwright.mask.walk.row_table import RowTable
from maskwright.mask.walk.walk import PrecomputedMask, Scratch, Spelling, Walk
from maskwright.vocab import Vocabulary
from maskwright.vocab.trie import SiblingTrie
from maskwright.vocab.vocabulary import WORTH_KEEPING

MOST_BYTES: Final = 20 << 20
"""Estimated bytes after which new grammars get new tables (see `mask.shared.generations`)."""
MOST_TERMS: Final = 20_000
"""Regular terms after which new grammars get new tables: a leaf state keeps all its derivatives."""
MOST_TRANSITIONS: Final = 150_000
"""Transitions computed after which new grammars get new tables; each takes some 140 bytes."""
_LEAF_BYTES: Final = 1_200
"""Of a leaf state with everything that refers to it, over 240 MaskBench schemas."""

_QUICKLY_WALKED: Final = 1 / 500
"""A part of the trie that a walk visits in less time than it takes to make a ready row."""

_UTF_8: Final = frozenset((*range(0xC0), *range(0xC2, 0xF5)))


class VocabularyParts:
    """What all generations of one vocabulary's tables have in common: it depends on the tokens
    alone, or bounds itself.

    All of it that nearly every grammar needs is made at once, so that it is a compile that takes
    the time, and no mask.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary: Final = vocabulary
        self.lock: Final = RLock()
        """Guards all generations, which share automata of patterns and rows of strings."""
        self.trie: Final = vocabulary.trie
        self.all_tokens: Final = vocabulary.siblings
        self.spelling: Final = Spelling(vocabulary.spellings, vocabulary.eos)
        self.strings: Final = StringRows(vocabulary)
        self.tools: Final = KnownTools()
        self.certain: Final = CertainTokens(vocabulary)
        if vocabulary.size >= WORTH_KEEPING:
            _ = self.leaving, self.token_texts  # few grammars lack them, and no mask should wait
            self.strings.find_lengths()

    @cached_property
    def leaving(self) -> SiblingTrie:
        """The tokens that may leave a string."""
        return SiblingTrie.of(self.strings.leaving)

    @cached_property
    def texts(self) -> StringRows:
        """The rows of text that is one regular language."""
        return self.strings.of_text()

    @cached_property
    def token_texts(self) -> TokenTexts:
        """The characters of all tokens."""
        return TokenTexts.of(self.trie, self.spelling)

    @cached_property
    def tokens_with_quotes(self) -> npt.NDArray[np.int32]:
        """[n]: the tokens that may end a name or a string, ascending."""
        quotes = np.flatnonzero(self.spelling.data == ord('"'))
        tokens = np.searchsorted(self.spelling.start, quotes, side="right") - 1
        return np.unique(tokens).astype(np.int32)

    @cached_property
    def holds_quote(self) -> npt.NDArray[np.bool_]:
        """[V]: whether a token is one of `tokens_with_quotes`."""
        found = np.zeros(self.vocabulary.size, np.bool_)
        found[self.tokens_with_quotes] = True
        return found

    @cached_property
    def characters_before_quotes(self) -> frozenset[str]:
        """What some token may add to a name that it ends (see `mask.walk.name_endings`)."""
        spellings = self.vocabulary.spellings
        found = (
            characters_before_quote(spellings[token]) for token in self.tokens_with_quotes.tolist()
        )
        return frozenset(("", *(each for each in found if each is not None)))

    @cached_property
    def names_within_tokens(self) -> frozenset[str] | None:
        """The names that contexts have to remember for the tokens' sake (see
        `automaton.json.remembered_names`); None for all, where some text can't be spelled."""
        if not self.has_every_byte:
            return None
        spellings = self.vocabulary.spellings
        return names_within(spellings[token] for token in self.tokens_with_quotes.tolist())

    @cached_property
    def nodes_below(self) -> npt.NDArray[np.int64]:
        """By byte: nodes of the trie of all tokens that begin so, without quotes and backslashes,
        which lead out of a string or to the few escapes."""
        found = np.zeros(256, np.int64)
        roots = np.flatnonzero(self.trie.depth == 1)
        found[self.trie.byte[roots]] = self.trie.skip[roots] - roots
        found[list(b'"\\')] = 0
        return found

    @cached_property
    def has_every_byte(self) -> bool:
        """Whether every byte that occurs in UTF-8 is a token. Then every text can be spelled, and n
        bytes never need more than n tokens."""
        return self.vocabulary.single_bytes >= _UTF_8


class VocabularyTables:
    """One generation of a vocabulary's tables. `lock` guards them all; holders keep it for short
    work only."""

    def __init__(self, parts: VocabularyParts) -> None:
        self.parts: Final = parts
        self.vocabulary: Final = parts.vocabulary
        self.lock: Final = parts.lock
        self.leaves = LeafTable()
        self.rows = RowTable(self.vocabulary.words)
        self.trie: Final = parts.trie
        self.all_tokens: Final = parts.all_tokens
        self.spelling: Final = parts.spelling
        self.strings: Final = parts.strings
        self.tools: Final = parts.tools
        self.certain: Final = parts.certain
        self.price: Final = parts.certain.price
        self.scratch: Final = Scratch(self.trie.height, self.vocabulary.words)
        """That of all walks, for there is one at a time."""
        self.leaf_bounds = LeafBounds()
        self.last_use = 0
        """Ascending with time."""
        self.used_again: int | None = None
        """How many generations had been begun when something that is known here was last used
        again; None if nothing was."""
        self.is_retired = False
        """Whether grammars had better begin afresh in other tables."""
        self.left_to_collector: VocabularyTables | None = None
        """These tables themselves: a cycle, which only a garbage collection frees."""
        self._precomputed: dict[int, PrecomputedMask | None] = {}
        self.known_alike: Final[dict[int, int]] = {}
        """What `alike` has found, by leaf."""
        self._texts: dict[int, PrecomputedMask] = {}
        self._runs: dict[int, CharacterRun | None] = {}
        self._json_machines: dict[Hashable, tuple[Levels, SharedMachine]] = {}
        self._every_byte = np.ones(768, np.uint8)
        self._terms = alive()
        self._made = made()

    @cached_property
    def texts(self) -> TextRows:
        """The ready rows of plain text, created when they are first needed."""
        return TextRows(self.parts.token_texts, self.spelling, self.trie.twin, self.rows)

    def json_machine(self, kind: Hashable, limits: Limits) -> tuple[Levels, SharedMachine]:
        """Return the levels and the machine that JSON Schemas compiled with these options share."""
        known = self._json_machines.get(kind)
        if known is None:
            levels = Levels()
            known = self._json_machines[kind] = levels, self.machine(levels, limits)
        return known

    def machine(self, contexts: Contexts, limits: Limits) -> SharedMachine:
        """Return a new machine over these tables, in which texts of some contexts are read."""
        machine = Machine(self.leaves, contexts, limits)
        bounds = NodeBounds(machine)
        walk = Walk(
            machine.arrays,
            self.rows,
            self.all_tokens,
            self.spelling,
            self.scratch,
            self.leaf_bounds.known,
            bounds.known,
        )
        return SharedMachine(machine, bounds, walk, limits)

    def knows(self, kind: Hashable, root: Schema) -> bool:
        """Whether a schema has been met with these options."""
        known = self._json_machines.get(kind)
        return known is not None and known[0].knows(root)

    def shares(self, shared: SharedMachine) -> bool:
        """Whether a machine is one that grammars of JSON Schemas share here."""
        return any(machine is shared for _, machine in list(self._json_machines.values()))

    @property
    def nbytes(self) -> int:
        """Estimated bytes of the leaves, of what refers to them, of rows and shared machines."""
        found = _LEAF_BYTES * self.leaves.weight + self.rows.nbytes
        for _, shared in list(self._json_machines.values()):
            found += shared.nbytes
        return found

    @property
    def is_full(self) -> bool:
        """Whether the tables are so large that new grammars should get new ones."""
        terms = alive()
        self._terms = min(self._terms, terms)  # terms of earlier tables are freed one by one
        return (
            self.nbytes > MOST_BYTES
            or terms - self._terms > MOST_TERMS
            or made() - self._made > MOST_TRANSITIONS
        )

    def precomputed_string(self, leaf: int) -> PrecomputedMask | None:
        """Return the precomputed part of the mask at `leaf`; None if it is not within a string, or
        if the mask depends on the context."""
        leaf = int(self.leaves.rows.ready_leaf[leaf]) or leaf
        if leaf not in self._precomputed:
            self._precomputed[leaf] = self._find_precomputed(leaf)
        return self._precomputed[leaf]

    def alike(self, leaf: int) -> int:
        """The state, with fewer counters, that has the masks of `leaf` in every context; mostly
        `leaf` itself."""
        known = self.known_alike.get(leaf)
        if known is None:
            known = self.known_alike[leaf] = self._simpler(leaf, self.strings.alike)
        return known

    def unbounded(self, leaf: int) -> int:
        """The state without a bound on its length from which, in every context, it takes as many
        tokens to end the text after any token as from `leaf`; mostly `leaf` itself."""
        return self._simpler(leaf, self.strings.unbounded)

    def _simpler(self, leaf: int, simplify: Callable[[Regular], Regular]) -> int:
        """The state between two characters of a string with a simpler term."""
        if self.leaves.rows.ready_leaf[leaf]:  # in a list of words
            return leaf
        key = self.leaves.keys[leaf]
        if not isinstance(key, Text) or not key.inside:
            return leaf
        term = simplify(key.term)
        return leaf if term is key.term else self.leaves.state(Text(True, term))

    def _find_precomputed(self, leaf: int) -> PrecomputedMask | None:
        leaves, keys = self.leaves, self.leaves.keys
        if leaves.rows.gate_high[leaf] or leaves.rows.ready_leaf[leaf]:  # few tokens, or the
            return None  # context decides
        if not is_within(leaf, keys) or self._is_quickly_walked(leaf):
            return None
        ready = self.rows.ready(self.strings.ready(leaf, keys))
        walked = self._simpler(leaf, self.strings.before_leaving)
        other = DEAD if walked == leaf else walked
        return PrecomputedMask(ready, hide((self.parts.leaving,)), self._every_byte, other)

    def _is_quickly_walked(self, leaf: int) -> bool:
        """Whether a place within a string is one before few tokens, so that a walk takes less than
        to make a ready row."""
        leaves = self.leaves
        term = term_within(leaf, leaves.keys)
        if has_minimal_escapes(term):
            return True
        if not isinstance(leaves.keys[leaf], Text) or characters_left(term) != NARROW:
            return False
        leaves.build(leaf)
        nodes = leaves.rows.weigh(leaf, self.parts.nodes_below)
        return nodes < _QUICKLY_WALKED * len(self.trie.byte)

    def precomputed_text(self, leaf: int) -> PrecomputedMask | None:
        """Return the mask at `leaf`, in a text that is one regular language; None where walking is
        quick: before few characters that no run has, and in a list of words."""
        if leaf not in self._texts:
            key = self.leaves.keys[leaf]
            if not isinstance(key, Text) or isinstance(key.term, Words | State):
                return None
            run = self.run(leaf)
            if following(key.term) - (run.first.size if run else 0) < FEWEST:
                return None
            ready = self.rows.ready(self.parts.texts.ready(leaf, self.leaves.keys))
            self._texts[leaf] = PrecomputedMask(ready, (), self._every_byte)
        return self._texts[leaf]

    def is_text(self, leaf: int) -> bool:
        """Whether plain text is read at `leaf`."""
        return self._text(leaf) is not EMPTY

    def run(self, leaf: int) -> CharacterRun | None:
        """Return the run with the most characters with which plain text may continue at `leaf`."""
        if leaf not in self._runs:
            term = self._text(leaf)
            parts = term.parts if isinstance(term, Parallel) else (term,)
            self._runs[leaf] = self.texts.run(parts)
        return self._runs[leaf]

    def _text(self, leaf: int) -> Regular:
        if self.leaves.rows.ready_leaf[leaf]:  # in a list of words, which is within a string
            return EMPTY
        key = self.leaves.keys[leaf]
        if isinstance(key, Entry):
            return key.text
        return key.term if isinstance(key, Text) and not key.inside else EMPTY

    def bound_in_string(self, leaf: int, limits: Limits, *, inside: bool = True) -> int:
        """Return an upper bound in bytes on leaving a string after any token that stays within it
        from `leaf` on; `ENDLESS` if none is known. `inside`: whether it is a JSON string, and not
        a text."""
        term = term_within(leaf, self.leaves.keys)
        if characters_left(term) == NARROW:
            farthest = self.strings.farthest_after(leaf, self.leaves.keys)
            return ENDLESS if farthest is None else UNFINISHED + 1 + farthest
        text = self.leaves.state(Text(inside, term))
        return UNFINISHED + self.leaf_bounds.compute(self.leaves, text, limits)


def forget_languages() -> None:
    """Drop the cached languages of patterns and numbers, what refers to them, and the transitions
    of all languages. Languages in use by grammars work theirs out anew."""
    for known in (search, full_match, number, lone_scalars, has_name):
        known.cache_clear()
    forget_transitions()
    RECENT.clear()
