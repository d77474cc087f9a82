"""The ways out of a leaf: the labels with which it can be left, each with a text that leads there.

Where a language decides what the shortest text is, no states are searched: in a string that may go
on in any way, in texts that are read side by side, and in names, which are words of a list or any
others. Elsewhere a breadth-first search over the leaf's bytes finds the nearest exits first.
"""

from __future__ import annotations

import string
from collections import Counter, deque
from collections.abc import Hashable, Iterator
from heapq import nsmallest
from itertools import count, product
from typing import Final

from maskwright.automaton.leaf.characters import nearest_ends
from maskwright.automaton.leaf.keys import Begun, Key, Padded, PartsEnded, Skipped, Spaced, Text
from maskwright.automaton.leaf.table import Keys
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.witness_text import spelled
from maskwright.errors import LimitError, TooLongError
from maskwright.grammar.regular.derivative import label as label_of
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Parallel, Regular, Tagged, Words
from maskwright.immutable import Immutable
from maskwright.limits import Limits, spend

NEARBY: Final = 256
"""Leaf states that are visited, and words of one list that are looked at, in search of a shorter
completion once there is one. Between the bytes of escapes there are tens of thousands of states
(each spelling of each escape), none of them nearer; without this bound a search there took half a
second and most of a leaf's memory."""
_NEARBY_IN_CHARACTER: Final = 32
"""The same within a character of a name."""
_MATCHED: Final = 1
"""The label of a leaf that reads one language and has matched it."""
_READABLE_FIRST: Final = bytes(sorted(range(256), key=lambda byte: (not chr(byte).isalnum(), byte)))
"""All bytes, letters and digits before signs, so that completions read well."""
_LETTERS: Final = string.ascii_letters + string.digits


class LeafExit(Immutable):
    """A way out of a leaf."""

    label: Hashable
    """None for a state at which there is none, which says how far the search has come."""
    text: bytes
    """The bytes that lead there."""
    is_far: bool
    """Whether no more are worth it, once there is a completion along another way out: so many
    states have been met, or the nearest way out of all has been yielded."""
    rank: int = 0
    """Of ways out that lead to completions of one length, the lowest is taken: listed names come in
    the schema's order, as they do in completions that begin before the name. So what is left of a
    completion is the completion from there, whichever was found first."""


class LeafExits:
    """The ways out of the leaves of one machine."""

    def __init__(self, machine: Machine, limits: Limits) -> None:
        self._machine = machine
        self._limits = limits
        self._nearest: dict[int, LeafExit | None] = {}
        """See `_nearest_exit`, by leaf."""

    def of(self, leaf: int, context: int) -> Iterator[LeafExit]:
        """The ways out of a leaf in a context, roughly the nearest first; of those that are left
        with one label, not all. Raises `LimitError` if the search takes too long, or all of them
        are too long to be written out."""
        if _ends_alike(self._machine.leaves.keys, leaf):
            yield self._only_exit(leaf)
            return
        if _has_one_label(self._machine.leaves.keys, leaf):
            nearest = self._nearest_exit(leaf, context)
            if nearest is not None:
                yield nearest
                yield LeafExit(None, nearest.text, True)
                # What follows is for values that must differ from others, as the nearest may not.
        tried: set[Hashable] = set()
        key = self._machine.leaves.keys[leaf]
        within = isinstance(key, Begun) and isinstance(key.term, Tagged) and key.term.named
        most = _NEARBY_IN_CHARACTER if within else NEARBY
        skipped: list[TooLongError] = []
        found = False
        for at, text, seen in self._states(leaf, context):
            yield LeafExit(None, text, seen > most)
            for label, ending, rank in self._at(at, context, tried, skipped):
                found = True
                yield LeafExit(label, text + ending, seen > most, rank)
        if skipped and not found:
            raise skipped[0]

    def _nearest_exit(self, leaf: int, context: int) -> LeafExit | None:
        """The shortest way out of a leaf whose ways out all have one label; None if there is none.
        Such a leaf is no name, so the context makes no difference."""
        if leaf in self._nearest:
            return self._nearest[leaf]
        key = self._machine.leaves.keys[leaf]
        if isinstance(key, Begun):
            self._nearest[leaf] = self._nearest_after_character(key)
            return self._nearest[leaf]
        nearest: LeafExit | None = None
        skipped: list[TooLongError] = []
        for at, text, seen in self._states(leaf, context):
            if nearest is not None and (len(text) >= len(nearest.text) or seen > NEARBY):
                break
            for label, ending, _ in self._at(at, context, set(), skipped):
                if nearest is None or len(text + ending) < len(nearest.text):
                    nearest = LeafExit(label, text + ending, False)
        if skipped and nearest is None:
            raise skipped[0]
        self._nearest[leaf] = nearest
        return nearest

    def _nearest_after_character(self, key: Begun) -> LeafExit | None:
        """The shortest way out from within a character; None if there is none. Between the bytes of
        an escape there may be hundreds of states, so no states are built: where its characters lead
        is known."""
        rests: dict[Regular, bytes] = {}
        texts: list[bytes] = []
        for target, missing in nearest_ends(key):
            spend()
            if target not in rests:
                rests[target] = self._shortest(Text(key.inside, target))
            texts.append(missing + rests[target])
        return LeafExit(_MATCHED, min(texts, key=len), False) if texts else None

    def repeatedly(self, leaf: int, context: int, visits: int) -> Iterator[LeafExit]:
        """The ways out of a name, the nearest first, up to `visits` of them from each state: where
        only the text shows which names are taken, as many may be barred but one."""
        leaves = self._machine.leaves
        seen = Counter((leaf,))
        steps = 1
        queue: deque[tuple[int, bytes]] = deque([(leaf, b"")])
        while queue:
            spend()
            at, text = queue.popleft()
            yield LeafExit(leaves.label_of(at), text, steps > NEARBY)
            following = leaves.next_states(at)
            for byte in filter(following.__contains__, _READABLE_FIRST):
                target = following[byte]
                if seen[target] < visits and self._machine.gate_open(target, context):
                    seen[target] += 1
                    steps += 1
                    queue.append((target, text + bytes([byte])))
            if steps > self._limits.witness_search:
                raise self._too_long()

    def _too_long(self) -> LimitError:
        most = self._limits.witness_search
        return LimitError(
            f"a shortest completion was not found among {most:,} states",
            limit="witness_search",
            value=most,
        )

    def _only_exit(self, leaf: int) -> LeafExit:
        """The way out of a string whose ways out all have one label.

        As in `_nearest_after_character`, no states between hexadecimal digits are built.
        """
        leaves, text = self._machine.leaves, b""
        key = leaves.keys[leaf]
        while isinstance(key, Skipped) or (isinstance(key, Begun) and key.is_escape):
            byte, following = leaves.first_bytes(leaf, _READABLE_FIRST)[0]
            text, leaf, key = text + bytes([byte]), following, leaves.keys[following]
        if isinstance(key, Text):
            return LeafExit(label_of(key.term), text + b'"', False)
        assert isinstance(key, Begun)
        target, missing = next(nearest_ends(key))
        return LeafExit(label_of(target), text + missing + b'"', False)

    def _states(self, leaf: int, context: int) -> Iterator[tuple[int, bytes, int]]:
        """The states that can be reached within a leaf, breadth first, with the bytes that lead to
        each and the number of states met by then. States whose ways out are known without a search
        lead no further, and whitespace is passed over."""
        leaves = self._machine.leaves
        leaf = self._after_padding(leaf)
        seen = {leaf}
        queue: deque[tuple[int, bytes]] = deque([(leaf, b"")])
        while queue:
            at, text = queue.popleft()
            spend()
            yield at, text, len(seen)
            if _needs_no_search(leaves.keys[at]):
                continue
            for byte, target in leaves.first_bytes(at, _READABLE_FIRST):
                target = self._after_padding(target)
                if target not in seen and self._machine.gate_open(target, context):
                    seen.add(target)
                    queue.append((target, text + bytes([byte])))
            if len(seen) > self._limits.witness_search:
                raise self._too_long()

    def _after_padding(self, leaf: int) -> int:
        """The state after whitespace that may be left out."""
        key = self._machine.leaves.keys[leaf]
        return key.target if isinstance(key, Padded) else leaf

    def _at(
        self, leaf: int, context: int, tried: set[Hashable], skipped: list[TooLongError]
    ) -> Iterator[tuple[Hashable, bytes, int]]:
        """The labels with which a leaf can be left from one of its states, each with the text that
        leads there and its rank (see `LeafExit`). A label of the state itself is offered only once,
        and then added to `tried`. Why some were left out is added to `skipped`."""
        match self._machine.leaves.keys[leaf]:
            case Text(term=Parallel(terms=terms, parts=parts)):
                for whole, part in zip(terms, parts, strict=True):
                    if part is EMPTY:
                        continue
                    rest = self._unless_too_long(Text(False, part), skipped)
                    if rest is not None:
                        yield PartsEnded((whole,)), rest, 0
            case Text(term=Tagged() as term) as key if _is_word_or_any(key):
                yield from self._names(term, context)
            case Text(term=term) as key if not isinstance(term, Tagged):
                rest = self._unless_too_long(key, skipped)
                if rest is not None:
                    yield _MATCHED, rest, 0
            case _:
                label = self._machine.leaves.label_of(leaf)
                if label is not None and label not in tried:
                    tried.add(label)
                    yield label, b"", 0

    def _unless_too_long(self, key: Text, skipped: list[TooLongError]) -> bytes | None:
        """Like `_shortest`; None where that is too long to be written out, which is added to
        `skipped`."""
        try:
            return self._shortest(key)
        except TooLongError as error:
            skipped.append(error)
            return None

    def _shortest(self, key: Text) -> bytes:
        """The rest of one string or text. There is one: leaf states of no text are never made."""
        text = shortest(key.term, self._limits.witness_search)
        assert text is not None
        return spelled(text)[1:].encode() if key.inside else text.encode()

    def _names(self, term: Tagged, context: int) -> Iterator[tuple[Hashable, bytes, int]]:
        """The words that a name can still become and that the context allows, the shortest ones;
        then another name, if there are others. For the values see `_at`."""
        words, *others = term.parts
        assert isinstance(words, Words)
        strings, depth = words.table.strings, words.depth
        flags = tuple(int(other is ANYTHING) for other in others)
        gate = self._machine.contexts.gate(context)
        allowed = range(words.low, words.high)
        if gate is not None:
            ones = bin(gate[0])[:1:-1]  # from the lowest bit on
            allowed = [at for at in allowed[: max(0, len(ones) - words.low)] if ones[at] == "1"]
        level = self._machine.contexts.level(context)
        ranks = {} if level is None else {name: at for at, name in enumerate(level.names_listed)}
        for at in nsmallest(NEARBY, allowed, key=lambda at: len(strings[at])):
            name = strings[at]
            yield (1 + at, *flags), spelled(name[depth:])[1:].encode(), ranks.get(name, len(ranks))
        if any(flags):
            listed = {each[depth:] for each in strings[words.low : words.high]}
            yield (0, *flags), f'{_unlisted(listed)}"'.encode(), len(ranks)


def _unlisted(listed: set[str]) -> str:
    """A short text that is not listed."""
    texts = ("".join(x) for length in count() for x in product(_LETTERS, repeat=length))
    return next(text for text in texts if text not in listed)


def _needs_no_search(key: Key) -> bool:
    """Whether the ways out of a state are known: it is at a character boundary of a text or string
    that is left only at its end, so that the shortest rest is a property of the language alone; or
    it has been left already, but for whitespace. Of a `Tagged` it makes a difference which parts
    have matched."""
    if isinstance(key, Text):
        return not isinstance(key.term, Tagged) or _is_word_or_any(key)
    return isinstance(key, Spaced)


def _is_word_or_any(key: Text) -> bool:
    """Whether a name is being read that may become a word of a list, and otherwise may be any name
    or none."""
    term = key.term
    if not (isinstance(term, Tagged) and term.named and key.inside):
        return False
    words, *others = term.parts
    return isinstance(words, Words) and _are_any_or_none(others)


def _ends_alike(keys: Keys, leaf: int) -> bool:
    """Whether a string is being read that may go on in any way, and ends with one label however it
    does: one that may be anything, or a name that is none of a list's."""
    match keys[leaf]:
        case Text(inside=True, term=term) | Begun(inside=True, term=term):
            pass
        case Skipped(target=target):
            return _ends_alike(keys, target)
        case _:
            return False
    if not (isinstance(term, Tagged) and term.named):
        return term is ANYTHING
    words, *others = term.parts
    return words is EMPTY and _are_any_or_none(others)


def _has_one_label(keys: Keys, leaf: int) -> bool:
    """Whether a string or text is being read that is left with one label, wherever it ends."""
    match keys[leaf]:
        case Text(term=term) | Begun(term=term):
            return not isinstance(term, Tagged | Parallel)
        case Skipped(target=target):
            return _has_one_label(keys, target)
        case _:
            return False


def _are_any_or_none(terms: list[Regular]) -> bool:
    return all(term is ANYTHING or term is EMPTY for term in terms)
