"""A shortest string of a regular language: composed of those of its parts, or searched for."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from maskwright.grammar.regular.character_classes import Arc, Split, sample
from maskwright.grammar.regular.character_dfa import known_place
from maskwright.grammar.regular.charset import most_readable, readable
from maskwright.grammar.regular.derivative import check_searched, shortest_length, split
from maskwright.grammar.regular.terms import (
    Alt,
    Chars,
    Concat,
    CountingSet,
    LengthBounded,
    Regular,
    Repeat,
    State,
    Words,
)
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


def _shortest(term: Regular, limit: int) -> str | None:
    composed = _compose(term, limit)
    if composed is not None:
        return composed
    known = known_place(term)
    measurable = isinstance(term, LengthBounded) or (known is not None and known[0].complete)
    length = shortest_length(term)[0] if measurable else None
    return _search(term, limit) if length is None else _of_length(term, length)


def _of_length(term: Regular, length: int) -> str:
    """A string of the shortest length, one character after the other."""
    text = ""
    while length:
        spend(CHEAP)
        length -= 1
        for character, target in _moves(split(term)):
            if shortest_length(target)[0] == length:
                text += character
                term = target
                break
    return text


def _search(term: Regular, limit: int) -> str | None:
    """Search for the nearest nullable derivative."""
    seen: set[Regular] = set()
    tie = count()
    queue = [(0, next(tie), term, "")]
    while queue:
        size, _, state, text = heappop(queue)
        spend()
        if state.nullable:
            return text
        if state in seen:
            continue
        seen.add(state)
        spend()
        for character, target in _moves(split(state)):
            if target not in seen:
                heappush(queue, (size + _bytes(character), next(tie), target, text + character))
        check_searched(len(seen), limit)
    return None


def _moves(found: Split) -> Iterator[tuple[str, Regular]]:
    """A character for each range of ASCII and each set beyond, with the state after it."""
    for low, high, target in sorted(found.ascii, key=_holds_control_characters):
        yield chr(readable(low, high)), target
    for some, target in found.beyond:
        yield chr(sample(some)), target


def _holds_control_characters(arc: Arc) -> bool:
    """Whether a range is one of those that are tried last, for JSON writes them at length."""
    return arc[0] < 0x20 and arc[1] < 0x61


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _compose(term: Regular, limit: int) -> str | None:
    """A shortest string put together from those of the parts; None where that can't be done."""
    if term.nullable or term.short is not None:
        return term.short or ""
    match term:
        case Chars():
            return chr(most_readable(term.ranges))
        case Words(table=table, low=low, high=high, depth=depth):
            return min(table.strings[low:high], key=_bytes)[depth:]
        case State(shortest=found) if found is not None:
            return found()
        case Concat(head=head, tail=tail):
            first, rest = _compose(head, limit), _compose(tail, limit)
            return None if first is None or rest is None else first + rest
        case Repeat(body=body, least=least):
            each = _compose(body, limit)
            check_searched(0 if each is None else len(each) * least, limit)
            return None if each is None else each * least
        case CountingSet(body=body, counts=counts, tail=tail):
            rest = _compose(tail, limit)
            rounds = (counts & -counts).bit_length() - 1
            return None if rest is None else chr(most_readable(body.ranges)) * rounds + rest
        case Alt(options=options):
            found = [_compose(option, limit) for option in options]
            known = [each for each in found if each is not None]
            return min(known, key=_bytes) if len(known) == len(found) else None
        case _:
            return None
