"""From a parsed pattern to a `Regular`: anchors, word boundaries and lookahead become algebra.

The translation goes from right to left: `translate(node, after, before)` is the language of
everything from the node to the end of the text, where `after` says what may follow and `before`
what stood to the left. So `$` is "nothing follows", and `(?=x)` is the intersection of what
follows with x·anything.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import assert_never

from maskwright.grammar import charset
from maskwright.grammar.pattern import (
    WORD,
    Anchor,
    Choice,
    Class,
    Lookahead,
    Pattern,
    Quantified,
    Sequence,
    parse_pattern,
)
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    EPSILON,
    Regular,
    alt,
    both,
    chars,
    complement,
    concat,
    loop,
    repeat,
)
from maskwright.limits import DEFAULT_LIMITS, Limits


class Before(Enum):
    """What stands to the left of a position.

    The members with `HERE` mean the same, and that the round of the repeat being unrolled has not
    consumed anything yet (at the start of the text that goes without saying).
    """

    START = "start of the text"
    WORD = "a word character"
    OTHER = "another character"
    WORD_HERE = "a word character, at the start of a round"
    OTHER_HERE = "another character, at the start of a round"

    @property
    def here(self) -> Before:
        return _HERE.get(self, self)


After = dict[Before, Regular]

_HERE = {Before.WORD: Before.WORD_HERE, Before.OTHER: Before.OTHER_HERE}
_BEHIND_WORD = (Before.WORD, Before.WORD_HERE)

_WORD_NEXT = concat(chars(WORD), ANYTHING)
_OTHER_CHARS = charset.complement(WORD)


@lru_cache(maxsize=4096)
def search(text: str, limits: Limits = DEFAULT_LIMITS) -> Regular:
    """All strings in which the pattern is found somewhere (JSON Schema's `pattern`)."""
    tree = parse_pattern(text, limits)
    after = dict.fromkeys(Before, ANYTHING)
    at_start = translate(tree, after, Before.START)
    if _is_plain(tree):
        return concat(ANYTHING, at_start)
    later = [
        concat(ANYTHING, chars(ranges), translate(tree, after, before))
        for before, ranges in ((Before.WORD, WORD), (Before.OTHER, _OTHER_CHARS))
    ]
    return alt(at_start, *later)


@lru_cache(maxsize=4096)
def full_match(text: str, limits: Limits = DEFAULT_LIMITS) -> Regular:
    """All strings that the pattern matches from end to end."""
    return translate(parse_pattern(text, limits), dict.fromkeys(Before, EPSILON), Before.START)


def translate(node: Pattern, after: After, before: Before) -> Regular:
    if len({id(follow) for follow in after.values()}) == 1 and _is_plain(node):
        return concat(_plain(node), after[before])
    match node:
        case Class(ranges=ranges):
            word = charset.intersection(ranges, WORD)
            other = charset.intersection(ranges, _OTHER_CHARS)
            return alt(
                concat(chars(word), after[Before.WORD]), concat(chars(other), after[Before.OTHER])
            )
        case Sequence(parts=parts):
            for part in reversed(parts[1:]):
                after = {b: translate(part, after, b) for b in Before}
            return translate(parts[0], after, before) if parts else after[before]
        case Choice(options=options):
            return alt(*(translate(option, after, before) for option in options))
        case Quantified():
            return _quantified(node, after, before)
        case Anchor(kind=kind):
            return _anchor(kind, after[before], before)
        case Lookahead(body=body, negative=negative):
            seen = translate(body, dict.fromkeys(Before, ANYTHING), before)
            return both(complement(seen) if negative else seen, after[before])
        case _:
            assert_never(node)


def _anchor(kind: str, follow: Regular, before: Before) -> Regular:
    match kind:
        case "start":
            return follow if before is Before.START else EMPTY
        case "end":
            return both(EPSILON, follow)
        case _:
            at_boundary = (
                complement(_WORD_NEXT) if before in _BEHIND_WORD else _WORD_NEXT
            )  # a word begins or ends here
            return both(at_boundary if kind == "word" else complement(at_boundary), follow)


def _quantified(node: Quantified, after: After, before: Before) -> Regular:
    """Repeat a body whose meaning depends on its surroundings, by unrolling lazily."""
    body = node.body

    def rounds(position: Before, least: int, most: int | None) -> Regular:
        idle = {b: after[position] if b is position.here else EMPTY for b in Before}
        done = translate(body, idle, position.here)  # a round that consumes nothing
        if least == 0:
            done = alt(done, after[position])
        if most == 0:
            return done
        left = None if most is None else most - 1

        def unfold() -> Regular:
            again = {b: rounds(b, max(0, least - 1), left) for b in (Before.WORD, Before.OTHER)}
            follow = {b: again.get(b, EMPTY) for b in Before}
            return alt(done, translate(body, follow, position.here))

        key = (node.body, least, most, position, *after.values())
        return loop(key, done.nullable, unfold)

    return rounds(before, node.least, node.most)


def _is_plain(node: Pattern) -> bool:
    """Whether the node's meaning is the same wherever it stands."""
    match node:
        case Class():
            return True
        case Sequence(parts=parts) | Choice(options=parts):
            return all(_is_plain(part) for part in parts)
        case Quantified(body=body):
            return _is_plain(body)
        case Anchor() | Lookahead():
            return False
        case _:
            assert_never(node)


def _plain(node: Pattern) -> Regular:
    match node:
        case Class(ranges=ranges):
            return chars(ranges)
        case Sequence(parts=parts):
            return concat(*(_plain(part) for part in parts))
        case Choice(options=options):
            return alt(*(_plain(option) for option in options))
        case Quantified(body=body, least=least, most=most):
            return repeat(_plain(body), least, most)
        case Anchor() | Lookahead():
            raise AssertionError("only called on plain nodes")
        case _:
            assert_never(node)
