"""Ready rows: the tokens that stay inside a JSON string, independent of its context, or inside a
text that is one regular language."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.character_arrays import NOWHERE, UNKNOWN, Characters
from maskwright.automaton.leaf.keys import Begun, Key, Skipped, Text
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.spelling import BACKSLASH, BETWEEN
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.regular.beginnings import beginning_alike, farthest, least_weight
from maskwright.grammar.regular.byte_alphabet import alphabet
from maskwright.grammar.regular.character_dfa import NEVER, CharacterDfa
from maskwright.grammar.regular.derivative import place, split_length_bounds
from maskwright.grammar.regular.length_bounds import counted
from maskwright.grammar.regular.terms import (
    ANY_CHAR,
    ANYTHING,
    EMPTY,
    Alt,
    Complement,
    Concat,
    Intersection,
    LengthBounded,
    Regular,
    Repeat,
    Tagged,
    Weighed,
    WordList,
    Words,
    alt,
    length_bounded,
    repeat,
    uncovered,
)
from maskwright.immutable import Immutable
from maskwright.limits import CHEAP, spend
from maskwright.mask.ready_rows.combination import Exclusive, ProductAutomaton, exclusive
from maskwright.mask.ready_rows.inside import TOO_MUCH, Measure, Unwalked, walk_room, walk_string
from maskwright.mask.ready_rows.reach import Reach
from maskwright.mask.ready_rows.tokens import Subtrees, classify
from maskwright.mask.ready_rows.words import WordPoints, walk_words
from maskwright.mask.walk.row_table import packed
from maskwright.vocab import Vocabulary
from maskwright.vocab.array_cache import Arrays
from maskwright.vocab.trie import Trie

MOST_BYTES: Final = 12 << 20
"""Most bytes of ready rows and of the arrays of their automata. Above it, the least recently used
automata are dropped with their rows. Together with the terms of these automata, they take about
twice as much."""
AHEAD: Final = 8
"""States explored before the first walk, so that a small automaton is complete by then."""
AT_ONCE: Final = 64
"""States that a walk lists as lacking, and most that are explored ahead of the next one."""
RANGES_AT_ONCE: Final = 512
"""Ranges of transitions after which no more states are explored that no walk has asked for."""
MOST_LENGTHS: Final = 256
"""Lengths of strings whose rows are found beforehand; common vocabularies have no longer tokens."""

_PER_WALK: Final = 256
"""Steps as which a walk over the trie counts that found out what it lacks."""

Row = npt.NDArray[np.int32]
Needs = npt.NDArray[np.int16]

_APART: Final = (LengthBounded, Weighed, Words)
"""Options whose rows are found by themselves: with the others, they would have a state for each
combination of what is left to them."""
_UNBOUNDED: Final = Measure(np.zeros((0, 0), np.int32), 0, NEVER + 1)
"""No other measure is as wide, so that its rows, whose length was not measured, are its own."""


Automaton = CharacterDfa | ProductAutomaton
Source = Characters | ProductAutomaton
"""What has the arrays of an automaton."""


class _Walked(Immutable):
    """What was computed for the states of one automaton, or the places in one list of words."""

    characters: Source | WordPoints
    rows: dict[tuple[int, int, int, int, int], tuple[Row, int]]
    """By state, part and value of a character, and length bounds; in a list of words by place, part
    and value."""
    needs: dict[tuple[int, int, int], Needs | None]
    """By state, part and value of a character: what each token needs, None after one row alone has
    been asked for; see `walk_room`."""

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and rows."""
        row = next(iter(self.rows.values()), None)
        needs = sum(each.nbytes for each in self.needs.values() if each is not None)
        rows = 0 if row is None else len(self.rows) * row[0].nbytes
        return self.characters.nbytes + rows + needs


class StringRows:
    """Rows of the tokens that stay inside a JSON string, independent of its context.

    The tokens that stay inside are a ready row. The few tokens that pass the closing quote have a
    trie of their own, and only they have to be walked. If at most n more arbitrary characters may
    come, the tokens that stay inside have at most n characters. With a pattern, they are found by
    a walk over its automaton; one walk serves every length bound that leaves enough characters.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._trie = vocabulary.trie
        kept = vocabulary.kept("strings", lambda: _classified(self._trie, vocabulary.size))
        self._stays = kept["stays"] == 1
        self._lengths = kept["lengths"]
        self._longest = int(self._lengths[self._stays].max(initial=0))
        # Without those that no text can contain.
        quoting = [at for at in vocabulary.with_bytes(b'"') if vocabulary.spellings[at]]
        self.leaving = Trie.build(vocabulary.spellings, quoting)
        """All tokens that may pass a closing quote; they are in no ready row."""
        self._longest_leaving = self.leaving.height
        marks = np.zeros(vocabulary.size, np.bool_)
        marks[quoting] = True
        self._others = ~packed(marks)
        self._subtrees = Subtrees(self._trie, self._stays)
        self._plain = False
        self._reach = Reach(self._trie)
        self._by_length: dict[int, Row] = {}
        self._walked: OrderedDict[Automaton | WordList, _Walked] = OrderedDict()
        """By automaton or list, the least recently used first."""
        self._held = 0

    def of_text(self) -> StringRows:
        """Return the rows of plain text, without quotes and escapes; no token leaves it."""
        rows = copy(self)
        rows._plain = True
        rows._longest = self._trie.height
        rows._others = np.full_like(self._others, -1)
        rows._walked, rows._held = OrderedDict(), 0
        return rows

    def ready(self, leaf: int, keys: Sequence[Key]) -> Row:
        """The row of the tokens that stay inside from `leaf`, a place within a string, without
        those in `leaving`."""
        while self._held > MOST_BYTES and self._walked:
            _, oldest = self._walked.popitem(last=False)
            self._held -= oldest.nbytes
        match keys[leaf]:
            case Text(term=term):
                return self._after(term, BETWEEN, 0)
            case Begun(term=term, part=part, value=value):
                return self._after(term, part, value)
            case Skipped(part=part, target=target):
                following = keys[target]
                assert isinstance(following, Text)
                return self._after(following.term, part, 0)
            case key:
                raise AssertionError(f"{key} is no place within a string")

    def farthest_after(self, leaf: int, keys: Sequence[Key]) -> int | None:
        """Return an upper bound in bytes on ending a string after any token that stays inside it
        from `leaf` on, from between two characters; None if none is known."""
        term = term_within(leaf, keys)
        language = exclusive(term)
        if language is None:
            return self.farthest(term)
        self.ready(leaf, keys)  # so that every state is known to which a token may lead
        product = self._product(language)
        return product and product.farthest

    def farthest(self, term: Regular) -> int | None:
        """Return an upper bound in bytes on ending a string from any place between two characters
        of `term`; None if its parts don't show one and the automaton is too large to find one."""
        known = farthest(term)
        if known is not None:
            return known
        if isinstance(term, Alt | Tagged):
            options = term.options if isinstance(term, Alt) else term.parts
            bounds = [self.farthest(option) for option in options if option is not EMPTY]
            found = [each for each in bounds if each is not None]
            return max(found) if len(found) == len(bounds) else None
        core, least, _ = split_length_bounds(term)
        automaton, _ = place(core)
        if not automaton.can_measure(least):
            return None
        lengths = automaton.fewest(least)[: least + 1]
        return automaton.widest * int(lengths[lengths < NEVER].max(initial=0))

    def unbounded(self, term: Regular) -> Regular:
        """The term without the bound on its length, where no token comes near it: in every context
        the same tokens may follow, and end it, and from there it is as far to an end."""
        longest = max(self._longest, self._longest_leaving)
        if isinstance(term, Repeat) and term.body is ANY_CHAR and not term.least:
            return ANYTHING if term.most is None or term.most > longest else term
        core, least, most = split_length_bounds(term)
        if core is term or least:
            return term
        return core if _leaves_room(core, most, longest) else term

    def alike(self, term: Regular) -> Regular:
        """A term that, in every context, has the mask of `term`: the same tokens may follow, and
        end it. It has no counter that no token can exhaust."""
        return self._with_few_counters(self.unbounded(term), BETWEEN)

    def before_leaving(self, term: Regular) -> Regular:
        """The term without the bound on its length, where no token in `leaving` comes near it: in
        every context the same ones of them may follow."""
        if isinstance(term, Repeat) and term.body is ANY_CHAR:
            is_near = term.most is not None and term.most <= self._longest_leaving
            return term if is_near else repeat(ANY_CHAR, term.least)
        core, least, most = split_length_bounds(term)
        if core is term or least:
            return term
        return core if _leaves_room(core, most, self._longest_leaving) else term

    @property
    def nbytes(self) -> int:
        """Bytes of the stored rows and arrays."""
        return self._held

    def find_lengths(self) -> None:
        """Find the rows of all bounds on the length of a string of any characters, but for ones
        that only very long tokens exceed: each takes a bit for each token."""
        for most in range(min(self._longest, MOST_LENGTHS) + 1):
            self._of_length(most)

    def _of_length(self, most: int | None) -> Row:
        """The tokens that stay inside when at most `most` arbitrary characters may follow."""
        bound = self._longest if most is None else min(most, self._longest)
        row = self._by_length.get(bound)
        if row is None:
            row = packed(self._stays & (self._lengths <= bound)) & self._others
            self._by_length[bound] = row
        return row

    def _after(self, term: Regular, part: int, value: int) -> Row:
        """The row after `part` and `value` of a character; see `walk_string`."""
        if part == BETWEEN and not self._plain:
            bound = characters_left(term)
            if bound != NARROW:
                return self._of_length(bound)
        core, least, most = split_length_bounds(term)
        # The first character handles a least length of one.
        if core is not term and least <= 1 and _leaves_room(core, most, self._longest):
            return self._after(core, part, value)
        return self._after_alike(self._with_few_counters(term, part), part, value)

    def _with_few_counters(self, term: Regular, part: int) -> Regular:
        """A term after which the same tokens may follow, without counters of a plain language that
        no token can exhaust, or no string within bounds on its length."""
        core, least, most = split_length_bounds(term)
        if not core.plain:
            return term
        reach = self._most_characters(core, part)
        if core is term:
            return beginning_alike(core, reach)
        far = farthest(core)
        # An end that is near enough follows a token within `far` characters, if it has to be
        # no farther than that.
        reaches = [] if far is None or least > 1 else [reach + far]
        reaches += [] if most is None else [most + 1]
        simpler = beginning_alike(core, min(reaches)) if reaches else core
        return term if farthest(simpler) is None else length_bounded(simpler, least, most)

    def _most_characters(self, term: Regular, part: int) -> int:
        """More characters than a token can add to a string of `term`."""
        if BETWEEN <= part < BACKSLASH:
            return self._reach.characters(alphabet(term)) + 1
        return self._longest + 2

    def _after_alike(self, term: Regular, part: int, value: int) -> Row:
        """As `_after`, of a term without counters that no token can exhaust."""
        if part == BETWEEN and not self._plain:
            bound = characters_left(term)
            if bound != NARROW:
                return self._of_length(bound)
        if isinstance(term, Words):
            return self._of_words(term, part, value)
        if isinstance(term, Tagged):  # a string continues if it does in one of the languages
            rows = [self._after(p, part, value) for p in uncovered({*term.parts} - {EMPTY})]
            return np.bitwise_or.reduce(rows)
        if isinstance(term, Weighed):
            return self._of_weighed(term, part, value)
        if isinstance(term, Alt) and any(isinstance(p, _APART) for p in term.options):
            options = [p for p in term.options if isinstance(p, _APART)]
            others = alt(*(p for p in term.options if not isinstance(p, _APART)))
            options += [others] if others is not EMPTY else []
            return np.bitwise_or.reduce([self._after(p, part, value) for p in options])
        language = exclusive(term)
        if language is not None:
            return self._of_exclusive(language, part, value)
        return self._of_term(counted(term), part, value)

    def _of_words(self, term: Words, part: int, value: int) -> Row:
        walked = self._arrays(term.table)
        key = (term.low, term.high, term.depth, part, value)
        known = walked.rows.get(key)
        if known is None:
            words = walked.characters
            assert isinstance(words, WordPoints)
            spend(1 + CHEAP * (term.high - term.low))
            row = np.zeros(self._vocabulary.words, np.int32)
            walk_words(self._subtrees, words, *key, row, self._plain)
            known = walked.rows[key] = row & self._others, 0
            self._held += row.nbytes
        return known[0]

    def _product(self, language: Exclusive) -> ProductAutomaton | None:
        products = (each for each in reversed(self._walked) if isinstance(each, ProductAutomaton))
        return next((each for each in products if each.knows(language)), None)

    def _of_exclusive(self, language: Exclusive, part: int, value: int) -> Row:
        product = self._product(language) or ProductAutomaton(len(language.parts))
        walked = self._arrays(product)
        before = walked.nbytes
        try:
            state = product.state(language)
        finally:
            self._held += walked.nbytes - before
        if state == NOWHERE:  # a part of a `Tagged` may have no string
            return np.zeros(self._vocabulary.words, np.int32)
        return self._walk(product, state, part, value, _UNBOUNDED)[0]

    def _of_term(self, term: Regular, part: int, value: int) -> Row:
        core, least, most = split_length_bounds(term)
        automaton, state = place(core)
        if core is term:
            return self._unmeasured(automaton, state, part, value)
        if not automaton.can_measure(least):
            return self._unmeasured(*place(term), part, value)
        fewest = automaton.fewest(least)[: least + 1]
        farthest = int(fewest.max())  # from any state to an end
        if farthest < NEVER:
            if most is None or most >= self._longest + farthest:
                return self._unmeasured(automaton, state, part, value)
            if least <= 1:  # which the first character handles
                measure = Measure(fewest[:1], 0, NEVER)
                row, needed = self._walk(automaton, state, part, value, measure)
                if needed <= most:
                    return row
                key = (state, part, value, least, most)
                return self._within(automaton, key, lambda: measure, most)
        measure = Measure(fewest, least, NEVER - 1 if most is None else most)
        return self._walk(automaton, state, part, value, measure)[0]

    def _of_weighed(self, term: Weighed, part: int, value: int) -> Row:
        automaton, state = place(term.core)
        scale = term.scale
        between = np.array(
            [p for low, high in scale.between for p in range(low, high + 1)], np.int32
        )

        def measure(begun: int = 0) -> Measure:
            fewest = [least_weight(each, scale) for each in automaton.terms]
            return Measure(
                np.array([fewest], np.int32), 0, scale.most, begun, scale.beyond, between
            )

        key = (state, part, value, -1, term.room)
        walked = self._arrays(automaton)
        if key not in walked.rows and key[:3] in walked.needs:
            return self._within(automaton, key, measure, term.room)
        walked.needs.setdefault(key[:3])
        begun = scale.most - term.room
        return self._row(automaton, key, lambda: measure(begun), lean=True)[0]

    def _unmeasured(self, automaton: CharacterDfa, state: int, part: int, value: int) -> Row:
        automaton.explore(AHEAD - len(automaton.found), RANGES_AT_ONCE)
        if part == BETWEEN and not self._plain and automaton.complete and state in automaton.free:
            return self._of_length(None)
        return self._walk(automaton, state, part, value, _UNBOUNDED)[0]

    def _walk(
        self, automaton: Automaton, state: int, part: int, value: int, measure: Measure
    ) -> tuple[Row, int]:
        """The tokens that stay within `measure`, and the room that all of them need."""
        key = (state, part, value, measure.least, measure.most)
        return self._row(automaton, key, lambda: measure)

    def _row(
        self,
        automaton: Automaton,
        key: tuple[int, int, int, int, int],
        measure: Callable[[], Measure],
        *,
        lean: bool = False,
    ) -> tuple[Row, int]:
        """The row for a key of `_Walked.rows`, computed once. `lean`: no states are explored but
        those that the walk meets."""
        walked = self._arrays(automaton)
        known = walked.rows.get(key)
        if known is None:
            before = walked.nbytes
            assert not isinstance(walked.characters, WordPoints)
            try:
                known = self._walk_afresh(walked.characters, key, measure, lean=lean)
                walked.rows[key] = known
            finally:  # the arrays grow even if the walk is abandoned
                self._held += walked.nbytes - before
        return known

    def _within(
        self,
        automaton: CharacterDfa,
        key: tuple[int, int, int, int, int],
        measure: Callable[[], Measure],
        room: int,
    ) -> Row:
        """The row for a key of `_Walked.rows`: the tokens that need at most `room`. One walk finds
        out what they need, whatever the bound."""
        walked = self._arrays(automaton)
        known = walked.rows.get(key)
        if known is None:
            before = walked.nbytes
            needs = walked.needs.get(key[:3])
            try:
                if needs is None:
                    assert isinstance(walked.characters, Characters)
                    needs = self._needs(walked.characters, key, measure)
                    walked.needs[key[:3]] = needs
                row = packed(needs <= min(room, TOO_MUCH - 1)) & self._others
                known = walked.rows[key] = row, room
            finally:
                self._held += walked.nbytes - before
        return known[0]

    def _needs(
        self,
        characters: Characters,
        key: tuple[int, int, int, int, int],
        measure: Callable[[], Measure],
    ) -> Needs:
        """What each token needs; see `walk_room`."""
        needs = np.empty(self._vocabulary.size, np.int16)

        def walk(missing: npt.NDArray[np.int32]) -> int:
            needs[:] = TOO_MUCH
            arrays = characters.update()
            return walk_room(
                self._subtrees, arrays, measure(), *key[:3], needs, missing, self._plain
            )

        self._supply(characters, walk, lean=True)
        return needs

    def _arrays(self, automaton: Automaton | WordList) -> _Walked:
        """What has been computed of an automaton or a list of words, which is now the most recently
        used."""
        walked = self._walked.get(automaton)
        if walked is None:
            match automaton:
                case CharacterDfa():
                    characters = Characters(automaton)
                case WordList():
                    characters = WordPoints(automaton.strings)
                case ProductAutomaton():
                    characters = automaton
            walked = self._walked[automaton] = _Walked(characters, {}, {})
            self._held += walked.nbytes
        self._walked.move_to_end(automaton)
        return walked

    def _walk_afresh(
        self,
        characters: Source,
        key: tuple[int, int, int, int, int],
        measure: Callable[[], Measure],
        *,
        lean: bool,
    ) -> tuple[Row, int]:
        row = np.empty(self._vocabulary.words, np.int32)
        needed, rest = 0, Unwalked()

        def walk(missing: npt.NDArray[np.int32]) -> int:
            nonlocal needed
            if isinstance(characters, ProductAutomaton):
                arrays, product = characters.update()
            else:
                arrays, product = characters.update(), None
            lacking, needed = walk_string(
                self._subtrees,
                arrays,
                measure(),
                *key[:3],
                row,
                missing,
                self._plain,
                product,
                rest,
            )
            return lacking

        self._supply(characters, walk, lean=lean)
        return row & self._others, needed

    @staticmethod
    def _supply(
        characters: Source,
        walk: Callable[[npt.NDArray[np.int32]], int],
        *,
        lean: bool,
    ) -> None:
        """Walk, and find the states that the walk lacks, until it lacks none. The more often it
        lacked some, the more are explored besides: most walks need few."""
        missing = np.zeros(AT_ONCE, np.int32)
        ahead = AHEAD
        while True:
            missing[:] = -1
            if not walk(missing):
                if isinstance(characters, ProductAutomaton):
                    characters.count()
                return
            listed = missing[missing >= 0]
            characters.arrays.known[listed] = UNKNOWN  # finding them may be abandoned
            spend(_PER_WALK)
            if isinstance(characters, ProductAutomaton):
                characters.provide()
                continue
            automaton = characters.automaton
            ranges = sum(automaton.find(other) for other in listed.tolist())
            if not lean:  # the next row would need more of them
                automaton.explore(ahead, RANGES_AT_ONCE - ranges)
                ahead = min(2 * ahead, AT_ONCE)


def _leaves_room(core: Regular, most: int | None, longest: int) -> bool:
    """Whether an end of `core` surely follows within `most` characters after any token, which has
    at most `longest` of them."""
    far = farthest(core)
    return far is not None and (most is None or most > longest + far)


def term_within(leaf: int, keys: Sequence[Key]) -> Regular:
    """The term of a place within a string; for one in the middle of a character, that before it or
    that after it."""
    match keys[leaf]:
        case Skipped(target=target):
            return term_within(target, keys)
        case Text() | Begun() as key:
            return key.term
        case key:
            raise AssertionError(f"{key} is no place within a string")


def is_within(leaf: int, keys: Sequence[Key]) -> bool:
    """Whether a leaf state is a place within a JSON string."""
    match keys[leaf]:
        case Text(inside=inside) | Begun(inside=inside):
            return inside
        case Skipped(target=target):
            following = keys[target]
            return isinstance(following, Text) and following.inside
        case _:
            return False


def _classified(trie: Trie, size: int) -> Arrays:
    """What each token does from inside a string of any characters; see `classify`."""
    leaves = LeafTable()
    leaf = leaves.state(Text(inside=True, term=ANYTHING))
    leaves.expand(leaf, AT_ONCE)
    stays, lengths = np.zeros(size, np.uint8), np.zeros(size, np.int32)
    while True:
        missing = classify(leaves.rows, trie, leaf, stays, lengths)
        if missing == DEAD:
            return {"stays": stays, "lengths": lengths}
        leaves.build(missing)


NARROW: Final = -1


def characters_left(term: Regular) -> int | None:
    """How many arbitrary characters may still come inside a string of `term`.

    None means any number. NARROW if not every next character is possible, or the form of the term
    doesn't show it.
    """
    if term is ANY_CHAR:
        return 1
    match term:
        case Repeat(body=body, most=most) if body is ANY_CHAR:
            return most
        case Concat(head=head) if head is ANYTHING:
            return None
        case Alt(options=parts) | Tagged(parts=parts):
            bounds = [characters_left(part) for part in parts if part is not EMPTY]
            if None in bounds:
                return None
            return max(b for b in bounds if b is not None) if NARROW not in bounds else NARROW
        case Complement() | Intersection():
            return NARROW if _longest_exception(term) is None else None
        case LengthBounded(core=core, most=most):
            longest = _longest_exception(core)
            return NARROW if longest is None or (most is not None and most <= longest) else most
        case _:
            return NARROW


def _longest_exception(term: Regular) -> int | None:
    """Return the length of the longest excluded string, if the language is co-finite: all longer
    strings are in it. None for other languages."""
    parts = term.parts if isinstance(term, Intersection) else (term,)
    longest = 0
    for part in parts:
        if not isinstance(part, Complement) or not isinstance(part.body, Words):
            return None
        words = part.body
        strings = words.table.strings[words.low : words.high]
        longest = max(longest, max(map(len, strings)) - words.depth)
    return longest
