"""A shortest string of a regular language, also one besides some others: composed of its parts'
ones, or searched for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from heapq import heappop, heappush
from itertools import count

from maskwright.errors import LimitError
from maskwright.grammar.regular.beginnings import least_length
from maskwright.grammar.regular.character_classes import sample
from maskwright.grammar.regular.character_dfa import (
    NEVER,
    CharacterDfa,
    LatestText,
    known_place,
)
from maskwright.grammar.regular.charset import (
    Ranges,
    complement,
    intersection,
    most_readable,
    ranges_of,
    readable,
)
from maskwright.grammar.regular.composed import check_searched, composed, encoded_size
from maskwright.grammar.regular.derivative import (
    known_strings,
    let_go,
    place,
    split,
    split_length_bounds,
)
from maskwright.grammar.regular.overlay import Arc, Split
from maskwright.grammar.regular.terms import EMPTY, Regular
from maskwright.limits import CHEAP, DEFAULT_LIMITS, spend


def shortest(term: Regular, limit: int = DEFAULT_LIMITS.witness_search) -> str | None:
    """A shortest string of the language, None if there is none.

    It is the shortest in UTF-8, except languages that bound the length of their strings: there it
    has the fewest characters.
    """
    if term.live is False:
        return None
    if term.short is None:
        term.short = _shortest(term, limit)
    return term.short


def shortest_besides(
    term: Regular, others: Collection[str], limit: int = DEFAULT_LIMITS.witness_search
) -> str | None:
    """A shortest string in UTF-8 of the language that is none of `others`, None if there is none.

    It is a beginning of one of these, or leaves all of them at some character. The rest is then a
    shortest string of what may follow, which is known for good.
    """
    best, size = None, 0
    level = [("", term, [*others])]
    while level and (best is None or len(level[0][0]) < size):
        below: list[tuple[str, Regular, list[str]]] = []
        for text, state, ahead in level:
            spend(CHEAP * (1 + len(ahead)))
            following: dict[str, list[str]] = {}
            for other in ahead:
                if other != text:
                    following.setdefault(other[len(text)], []).append(other)
            found = split(state)
            if state.nullable and text not in ahead:
                least = encoded_size(text)
                if best is None or least < size:
                    best, size = text, least
            for character, target in _moves(found, {*map(ord, following)}):
                begun = text + character
                if best is not None and encoded_size(begun) + least_length(target) >= size:
                    continue
                rest = shortest(target, limit)
                if rest is not None and (best is None or encoded_size(begun + rest) < size):
                    best, size = begun + rest, encoded_size(begun + rest)
            targets = ((each, found.after(ord(each)), some) for each, some in following.items())
            below += [(text + each, to, some) for each, to, some in targets if to is not EMPTY]
        level = below
    return best


def _shortest(term: Regular, limit: int) -> str | None:
    found = composed(term, limit)
    if found is not None:
        return found
    core, least, most = split_length_bounds(term)
    known = known_place(core)
    if core is not term or (known is not None and known[0].complete):
        automaton, state = place(core)
        if automaton.can_measure(least):
            length = automaton.fewest(least)[least, state]
            if length < NEVER and (most is None or length <= most):
                return _of_length(automaton, state, least, length)
    least = least_length(term)
    texts = [text for text in known_strings(term, padded=False) if encoded_size(text) == least]
    return min(texts) if texts else _search(term, limit)


def _of_length(automaton: CharacterDfa, state: int, least: int, length: int) -> str:
    """A string of the shortest length from a state on, one character after the other."""
    fewest, wanted, known = automaton.fewest(least), least, automaton.latest
    characters: list[str] = []
    states: list[int] = []
    while length and not known.passes(state, least, length):
        spend(CHEAP)
        states.append(state)
        length, least = length - 1, max(least - 1, 0)
        row = fewest[least]
        moves = automaton.moves.get(state) or _moves_of(automaton, state)
        character, state = next(move for move in moves if row[move[1]] == length)
        characters.append(character)
    read = len(known.text) - length
    text = "".join(characters) + known.text[read:]
    if characters:
        automaton.latest = LatestText(text, wanted, states + known.states[read:])
    return text


def _moves_of(automaton: CharacterDfa, state: int) -> tuple[tuple[str, int], ...]:
    found = automaton.splits[state]
    assert found is not None
    moves = tuple((character, automaton.number(target)) for character, target in _moves(found))
    automaton.moves[state] = moves
    return moves


def _search(term: Regular, limit: int) -> str | None:
    """Search for the nearest nullable derivative. Those come first from which it may be nearest, by
    a lower bound that may fall by more than a step: so a state is looked at again when it is
    reached by a shorter text. Of equal bounds the longest text comes first: where most characters
    of a long string may be any, all their beginnings seem equally near to an end."""
    sizes: dict[Regular, int] = {}
    try:
        return _search_among(term, limit, sizes)
    except LimitError:
        let_go(sizes)
        raise


def _search_among(term: Regular, limit: int, sizes: dict[Regular, int]) -> str | None:
    """Do as `_search`, and enter the states that are looked at into `sizes`, with the bytes before
    them."""
    tie = count()
    queue = [(least_length(term), 0, next(tie), 0, term, "")]
    while queue:
        _, _, _, size, state, text = heappop(queue)
        spend()
        if state.nullable:
            return text
        if sizes.get(state, size + 1) <= size:
            continue
        sizes[state] = size
        spend()
        for character, target in _moves(split(state)):
            reached = size + encoded_size(character)
            if target not in sizes or reached < sizes[target]:
                bound = reached + least_length(target)
                heappush(queue, (bound, -reached, next(tie), reached, target, text + character))
        check_searched(len(sizes), limit)
    return None


def _moves(found: Split, others: Collection[int] = ()) -> Iterator[tuple[str, Regular]]:
    """A character that is none of `others` for each range of ASCII and each set beyond, with the
    state after it."""
    for low, high, target in sorted(found.ascii, key=_holds_control_characters):
        point = _besides(readable(low, high), ((low, high),), others)
        if point is not None:
            yield chr(point), target
    for some, target in found.beyond:
        point = _besides(sample(some), some.ranges, others)
        if point is not None:
            yield chr(point), target


def _besides(point: int, ranges: Ranges, others: Collection[int]) -> int | None:
    """The point, or another of the ranges if it is one of `others`; None if all are."""
    if point not in others:
        return point
    free = intersection(ranges, complement(ranges_of(others)))
    return most_readable(free) if free else None


def _holds_control_characters(arc: Arc) -> bool:
    """Whether a range is one of those that are tried last, for JSON writes them at length."""
    return arc[0] < 0x20 and arc[1] < 0x61
