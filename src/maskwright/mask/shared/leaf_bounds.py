"""Upper bounds on the tokens that complete a text, as sums over its leaf and its stack.

A walk adds them up for each token that it allows (`mask.walk.walk`), so that a mask within an ample
budget costs hardly more than one without a budget. If a bound is `ENDLESS`, or above the budget,
the shortest completion decides (`mask.budget`). A bound counts bytes. If every byte is a token, a
text never needs more tokens than bytes.

Some tokens may end two names or items that must differ, and then no mask offers them (see
`mask.walk.ends`). What completes a text may need to do without them, so bounds are counted without
them from the beginning, with the tokens that are certain: what is counted later for a whole text is
never more than the sum of what its parts take.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from maskwright.automaton.leaf.characters import nearest_ends
from maskwright.automaton.leaf.keys import (
    Begun,
    BesideValue,
    ChoiceState,
    Dead,
    End,
    Entry,
    LiteralState,
    Padded,
    Skipped,
    Spaced,
    Text,
    TokenId,
)
from maskwright.automaton.leaf.spelling import ANY_BYTES, ANY_DIGITS
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.witness_text import spelled
from maskwright.errors import TooLongError
from maskwright.grammar.regular.derivative import known_string
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Parallel, Regular, Tagged
from maskwright.limits import Limits
from maskwright.mask.walk.ends import SEPARATORS, uncertain
from maskwright.mask.walk.walk import UpperBounds
from maskwright.vocab import Vocabulary
from maskwright.vocab.spellings import Spellings
from maskwright.vocab.trie import SiblingTrie

ENDLESS: Final = 1 << 24
_UNKNOWN: Final = -1


class LeafBounds:
    """Upper bound on the tokens to leave each leaf state, for all grammars over one vocabulary.

    Of a property name it counts only what the bounds of contexts, which count whole names, can't.
    """

    def __init__(self) -> None:
        self.known: Final = UpperBounds()

    def compute(self, leaves: LeafTable, leaf: int, limits: Limits) -> int:
        """The bound of a leaf state, which is known from then on."""
        known = self.known[leaf]
        if known == _UNKNOWN:
            known = self.known[leaf] = min(self._of(leaves, leaf, limits), ENDLESS)
        return known

    def _of(self, leaves: LeafTable, leaf: int, limits: Limits) -> int:
        match key := leaves.keys[leaf]:
            case Text(inside=inside, term=term):
                return _text(term, inside, limits)
            case Begun(inside=inside):
                target, missing = next(nearest_ends(key))
                return len(missing) + _text(target, inside, limits)
            case Skipped(part=part, target=target):
                left = part - (ANY_BYTES if part < ANY_DIGITS else ANY_DIGITS)
                return left + self.compute(leaves, target, limits)
            case LiteralState(data=data, target=target):
                return len(data) + self.compute(leaves, target, limits)
            case Padded(target=target):
                return self.compute(leaves, target, limits)
            case ChoiceState(marks=marks):  # it may be the colon after a name
                ways = (1 + self.compute(leaves, target, limits) for _, target in marks)
                return max(ways, default=0)
            case Entry(text=text, marks=marks):  # a mark begins a value, or is a special token
                return 1 if marks or text is EMPTY else _rest(text, False, limits)
            case BesideValue(text=text):
                return self.compute(leaves, text, limits)
            case TokenId():
                return 1
            case End() | Spaced() | Dead():
                return 0


class NodeBounds:
    """Upper bound, for each stack node, on the tokens that complete the text once the leaf on top
    of it has been left."""

    def __init__(self, machine: Machine) -> None:
        self.known: Final = UpperBounds()
        self._machine = machine
        self._after_value: dict[int, int] = {-1: 0}
        """Bounds by node, after a value on the node's level has been read."""

    def compute(self, node: int) -> int:
        """The bound of a node, which is known from then on."""
        arrays = self._machine.arrays
        bound = self._machine.contexts.bound(int(arrays.node_context[node]))
        total = ENDLESS
        if bound is not None:
            total = bound.after_leaf + self._levels_below(int(arrays.node_parent[node]))
        found = self.known[node] = min(total, ENDLESS)
        return found

    def _levels_below(self, node: int) -> int:
        """Upper bound on the tokens that complete the levels from `node` down to the root, once a
        value on its level has been read."""
        known = self._after_value.get(node)
        if known is None:
            arrays = self._machine.arrays
            bound = self._machine.contexts.bound(int(arrays.node_context[node]))
            known = ENDLESS
            if bound is not None:
                known = bound.after_value + self._levels_below(int(arrays.node_parent[node]))
            self._after_value[node] = known
        return known


def _text(term: Regular, inside: bool, limits: Limits) -> int:
    is_name = isinstance(term, Tagged) and term.named
    return _name(term, limits) if is_name else _rest(term, inside, limits)


def _name(term: Regular, limits: Limits) -> int:
    """The rest of a name. The bounds of contexts count whole names, as far as these are listed or
    any name will do; where it has to be of a language, it isn't known there what is left of it."""
    assert isinstance(term, Tagged)
    others = [part for part in term.parts[1:] if part is not EMPTY]
    if any(part is ANYTHING for part in others):
        return 0
    return max((_rest(part, True, limits) for part in others), default=0)


def _rest(term: Regular, inside: bool, limits: Limits) -> int:
    if isinstance(term, Parallel):  # any of the texts that are left may be the one that is read
        rests = (_rest(part, inside, limits) for part in term.parts if part is not EMPTY)
        return min(rests, default=ENDLESS)
    text = known_string(term)
    if text is None:
        try:
            text = shortest(term, limits.witness_search)
        except TooLongError:
            return ENDLESS
    if text is None:
        return ENDLESS
    return len((spelled(text)[1:] if inside else text).encode("utf-8", "surrogatepass"))


class CertainTokens:
    """Those of one vocabulary. All others are `uncertain`.

    They don't lead back to the vocabulary: contexts hold them, and the collector of garbage may not
    look at contexts (docs/decisions/0028-hidden-from-the-collector.md), so that it would never find
    a vocabulary in a circle with them.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokens = vocabulary.tokens
        self._all = vocabulary.siblings
        self.uncertain: Final = uncertain(
            [self._tokens[token_id] for token_id in vocabulary.with_bytes(SEPARATORS)]
        )

    def price(self, data: bytes) -> int:
        """An upper bound on the tokens that any suffix of `data` needs, at most its number of
        bytes. Every byte has to be a token."""
        return self._siblings.most_for_a_suffix(data)

    @cached_property
    def _siblings(self) -> SiblingTrie:
        if not self.uncertain:
            return self._all
        left_out = [n for n, each in enumerate(self._tokens) if each in self.uncertain]
        return self._all.without(left_out)

    @cached_property
    def texts(self) -> Spellings:
        """What `Vocabulary.spelled` takes to spell with these tokens alone."""
        left_out = self.uncertain
        return Spellings.of([b"" if each in left_out else each for each in self._tokens])
