"""Regular languages as grammars write them: strings as JSON spells them, and short expressions.

A character of a string may stand for itself or be escaped: as `\\n` and its like, as `\\uXXXX`, or
beyond U+FFFF as two of these, a surrogate pair.

Numbers are languages that are computed as automata. Written as a rule for each state, an integer
takes fifty rules; as `"0" | [1-9] [0-9]{0,39}` it is readable.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Final

from maskwright.grammar.regular import charset
from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import EPSILON, Regular

_SHORT: Final = dict(zip('"\\/\b\f\n\r\t', '"\\/bfnrt', strict=True))
"""The letter after the backslash, by character."""
_MUST: Final = charset.union(((0, 0x1F),), charset.of('"\\'))
"""Characters that never stand for themselves."""
_SURROGATES: Final = ((0xD800, 0xDFFF),)
_PLANE: Final = ((0, 0xFFFF),)
_BEYOND: Final = 0x10000


def spelled_text(text: str) -> Regular:
    """The spellings of a string with the escapes that JSON requires and no others, without its
    quotes."""
    return r.concat(
        *(
            spelled_characters(ranges) if charset.intersection(ranges, _MUST) else r.chars(ranges)
            for ranges in map(charset.of, text)
        )
    )


def spelled_language(term: Regular) -> Regular | None:
    """The spellings of the strings of a language; None for one that isn't made of characters,
    unions, concatenations and repetitions alone. Strings of a list have only the escapes that JSON
    requires."""
    match term:
        case r.Epsilon():
            return EPSILON
        case r.Chars(ranges=ranges):
            return spelled_characters(ranges)
        case r.Words(table=table, low=low, high=high, depth=depth):
            texts = [word[depth:] for word in table.strings[low:high]]
            escaped = [text for text in texts if _needs_escapes(text)]
            plain = r.words([text for text in texts if not _needs_escapes(text)])
            return r.alt(plain, *map(spelled_text, escaped))
        case r.Repeat(body=body, least=least, most=most):
            inner = spelled_language(body)
            return None if inner is None else r.repeat(inner, least, most)
        case r.Concat(head=head, tail=tail):
            first, rest = spelled_language(head), spelled_language(tail)
            return None if first is None or rest is None else r.concat(first, rest)
        case r.Alt(options=options):
            spelled = [spelled_language(option) for option in options]
            return None if None in spelled else r.alt(*(each for each in spelled if each))
        case r.State(equal=language) if language is not None:
            return spelled_language(language)
        case _:
            return None


def _needs_escapes(text: str) -> bool:
    return any(character in '"\\' or character < " " for character in text)


@lru_cache(1 << 12)
def spelled_characters(ranges: Ranges) -> Regular:
    """Every spelling of one character of a set."""
    ranges = charset.intersection(ranges, charset.complement(_SURROGATES))
    plain = charset.intersection(ranges, charset.complement(_MUST))
    short = [s for c, s in _SHORT.items() if charset.intersection(ranges, charset.of(c))]
    digits = [_digits(low, high, 4) for low, high in charset.intersection(ranges, _PLANE)]
    beyond = charset.intersection(ranges, charset.complement(_PLANE))
    pairs = [pair for low, high in beyond for pair in _pairs(low, high)]
    escapes = [r.chars(charset.of("".join(short)))] if short else []
    escapes += [r.concat(r.char("u"), r.alt(*digits, *pairs))] if digits or pairs else []
    return r.alt(r.chars(plain), r.concat(r.char("\\"), r.alt(*escapes)))


def _digits(low: int, high: int, count: int) -> Regular:
    """The numbers of a range in hexadecimal, with `count` digits of either case."""
    if count == 0:
        return EPSILON
    size = 16 ** (count - 1)
    parts: list[Regular] = []
    first, last = low // size, high // size
    while first <= last:
        start = low % size if first == low // size else 0
        whole = last if high % size == size - 1 else last - 1
        if start == 0 and first <= whole:
            rest = r.repeat(_digit(0, 15), count - 1, count - 1)
            parts.append(r.concat(_digit(first, whole), rest))
            first = whole + 1
            continue
        end = high % size if first == last else size - 1
        parts.append(r.concat(_digit(first, first), _digits(start, end, count - 1)))
        first += 1
    return r.alt(*parts)


def _digit(low: int, high: int) -> Regular:
    digits = "0123456789abcdef"[low : high + 1]
    return r.chars(charset.of(digits + digits.upper()))


def _pairs(low: int, high: int) -> Iterator[Regular]:
    """The surrogate pairs of a range beyond U+FFFF, without the `\\u` of the first."""
    low, high = low - _BEYOND, high - _BEYOND
    second = r.concat(r.char("\\"), r.char("u"))
    first, last = low >> 10, high >> 10
    while first <= last:
        start = low & 0x3FF if first == low >> 10 else 0
        whole = last if high & 0x3FF == 0x3FF else last - 1
        end = 0x3FF
        stop = whole
        if start or first > whole:
            stop = first
            end = high & 0x3FF if first == last else 0x3FF
        lead = _digits(0xD800 + first, 0xD800 + stop, 4)
        yield r.concat(lead, second, _digits(0xDC00 + start, 0xDC00 + end, 4))
        first = stop + 1


MOST_STATES: Final = 500
"""States of the automaton that are looked at."""
LONGEST: Final = 80
"""Parts of an expression that is short enough."""


def compact(term: Regular) -> Regular:
    """An equal language whose expression is short; the term itself if none is found."""
    if term.plain and _size(term) <= LONGEST:
        return term
    order = _states(term)
    if order is None:
        return term
    written: dict[Regular, Regular] = {}
    for state in order:
        by_target: dict[Regular, list[tuple[int, int]]] = {}
        for low, high, target in arcs(state):
            by_target.setdefault(written[target], []).append((low, high))
        options = [_concatenated(r.chars(tuple(some)), rest) for rest, some in by_target.items()]
        written[state] = _optional(options) if state.nullable else r.alt(*options)
        if _size(written[state]) > LONGEST:
            return term
    return written[term]


def _states(term: Regular) -> list[Regular] | None:
    """The states of the automaton, each after those to which it leads; None if there is a circle,
    or too many."""
    following: dict[Regular, list[Regular]] = {}
    waiting = [term]
    for state in waiting:
        if state not in following:
            following[state] = [target for _, _, target in arcs(state)]
            waiting += following[state]
        if len(following) > MOST_STATES:
            return None
    try:
        return [*TopologicalSorter(following).static_order()]
    except CycleError:
        return None


def _concatenated(first: Regular, rest: Regular) -> Regular:
    """One text after the other. A character and then up to n more of it are 1 to n + 1."""
    if isinstance(rest, r.Repeat) and rest.body is first:
        return r.repeat(first, rest.least + 1, None if rest.most is None else rest.most + 1)
    return r.concat(first, rest)


def _optional(options: list[Regular]) -> Regular:
    """One of the options or nothing."""
    if not options:
        return EPSILON
    if len(options) == 1:
        (only,) = options
        if isinstance(only, r.Repeat) and only.least == 1:
            return r.repeat(only.body, 0, only.most)
        return r.repeat(only, 0, 1)
    return r.alt(EPSILON, *options)


def _size(term: Regular) -> int:
    """The parts of an expression; a large number for one that has no expression."""
    match term:
        case r.Concat(head=head, tail=tail):
            return _size(head) + _size(tail)
        case r.Alt(options=options):
            return 1 + sum(map(_size, options))
        case r.Repeat(body=body):
            return 1 + _size(body)
        case r.Chars() | r.Epsilon():
            return 1
        case r.Words(low=low, high=high):
            return high - low
        case _:
            return LONGEST + 1
