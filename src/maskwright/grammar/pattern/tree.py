"""Regular expressions as a closed tree, and the character sets that their escapes stand for.

`parse_pattern` reads the tree from text, `translate` turns it into a `Regular`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, Literal, assert_never

from maskwright.grammar.pattern.characters import property_ranges
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges
from maskwright.immutable import Acyclic, Immutable


class Class(Acyclic):
    """One character out of a set."""

    ranges: Ranges


class Concat(Immutable):
    parts: tuple[Pattern, ...]


class Choice(Immutable):
    options: tuple[Pattern, ...]


class Quantified(Immutable):
    """`least` to `most` copies. `lazy` changes which match a search prefers, not what matches."""

    body: Pattern
    least: int
    most: int | None
    lazy: bool = False


class Anchor(Acyclic):
    """The start or end of the text, or a place (not) between a character of `word` and another."""

    kind: Literal["start", "end", "word", "not word"]
    word: Ranges = ()


class Lookahead(Immutable):
    """What follows here (does not) begin with `body`."""

    body: Pattern
    negative: bool


class Lookbehind(Immutable):
    """What stands before here (does not) end with `body`."""

    body: Pattern
    negative: bool


class Intersection(Immutable):
    """Texts that each part matches from end to end; assertions see nothing outside their part."""

    parts: tuple[Pattern, ...]


class Negation(Immutable):
    """Texts that `body` does not match from end to end; assertions see nothing outside it."""

    body: Pattern


Pattern = (
    Class | Concat | Choice | Quantified | Anchor | Lookahead | Lookbehind | Intersection | Negation
)

DIGIT: Final = charset.normal([(0x30, 0x39)])
WORD: Final = charset.normal([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
ASCII_SPACE: Final = charset.of(" \t\n\r\f\v")
SPACE: Final = charset.normal(
    [
        *[(9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)],
        *[(0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)],
        (0xFEFF, 0xFEFF),
    ]
)
LINE_END: Final = charset.of("\n\r\u2028\u2029")


@cache
def unicode_word() -> Ranges:
    """`\\w` of Python: letters, everything numeric, and the underscore."""
    return charset.union(_category("L"), _category("N"), charset.of("_"))


@cache
def unicode_digit() -> Ranges:
    """`\\d` of Python."""
    return _category("Nd")


@cache
def unicode_space() -> Ranges:
    """`\\s` of Python."""
    separators = charset.normal([(0x1C, 0x1F), (0x85, 0x85)])
    return charset.union(ASCII_SPACE, separators, _category("Z"))


def _category(name: str) -> Ranges:
    found = property_ranges(name)
    assert found is not None
    return found


def inner(node: Pattern) -> tuple[Pattern, ...]:
    """The nodes directly below a node."""
    match node:
        case Class() | Anchor():
            return ()
        case Concat(parts=parts) | Intersection(parts=parts) | Choice(options=parts):
            return parts
        case Quantified(body=body) | Negation(body=body):
            return (body,)
        case Lookahead(body=body) | Lookbehind(body=body):
            return (body,)
        case _:
            assert_never(node)


def is_plain(node: Pattern) -> bool:
    """Whether the node's meaning is the same wherever it stands."""
    if isinstance(node, Concat | Choice | Quantified):
        return all(map(is_plain, inner(node)))
    return isinstance(node, Class | Intersection | Negation)


def can_be_empty(node: Pattern) -> bool:
    """Whether the node may match without consuming anything, as far as its form tells."""
    match node:
        case Class():
            return False
        case Concat(parts=parts) | Intersection(parts=parts):
            return all(can_be_empty(part) for part in parts)
        case Choice(options=options):
            return any(can_be_empty(option) for option in options)
        case Quantified(body=body, least=least):
            return least == 0 or can_be_empty(body)
        case Anchor() | Lookahead() | Lookbehind() | Negation():
            return True
        case _:
            assert_never(node)


def assertions_at(side: Literal["start", "end"], node: Pattern) -> Iterator[Pattern]:
    """The assertions in `node` that can look at what stands before it (its "start"), or at what
    follows it (its "end")."""
    match node:
        case Class() | Intersection() | Negation():
            return
        case Anchor(kind=kind):
            if kind == side or kind not in ("start", "end"):
                yield node
        case Lookahead() if side == "end":
            yield node
        case Lookbehind():
            if side == "start":
                yield node
        case Concat(parts=parts):
            for part in parts if side == "start" else reversed(parts):
                yield from assertions_at(side, part)
                if not can_be_empty(part):
                    return
        case Choice() | Quantified() | Lookahead():
            for part in inner(node):
                yield from assertions_at(side, part)
        case _:
            assert_never(node)
