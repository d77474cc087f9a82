"""Internet addresses, host names and mailboxes."""

from __future__ import annotations

from functools import cache, partial
from typing import Final

from msgspec.structs import replace

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.charset import LAST, Ranges
from maskwright.grammar.regular.terms import (
    EPSILON,
    Regular,
    Scale,
    alt,
    char,
    chars,
    concat,
    intersection,
    length,
    repeat,
    state,
    weighed,
    words,
)
from maskwright.immutable import Acyclic

MOST_NAME: Final = 253
"""Characters of a host name: what fits into the 255 octets of RFC 1035."""

_MOST_LABEL: Final = 63
_LETTERS: Final = ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))
_PUNYCODE: Final = "xn--"
_RESERVED: Final = "??--"
"""How labels begin that RFC 5890 reserves; `?` is any character."""
_DOT: Final[Ranges] = ((0x2E, 0x2E),)


@cache
def ipv4() -> Regular:
    octet = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
    return full_match(rf"{octet}(\.{octet}){{3}}")


@cache
def ipv6() -> Regular:
    """RFC 4291, section 2.2: eight groups; `::` stands for one or more of them."""
    return alt(concat(words(["::"]), _after_gap(7)), _groups(8))


@cache
def hostname() -> Regular:
    """RFC 1123, section 2.1, with any label that begins with `xn--`."""
    return _name(_label(_AsciiLabelState(free=True)), _DOT)


@cache
def plain_hostname() -> Regular:
    """A host name without any label that begins with `xn--`."""
    return _name(_label(_AsciiLabelState()), _DOT)


@cache
def unreserved_hostname(between: Ranges) -> Regular:
    """A host name without any label that RFC 5890 reserves: with hyphens as its third and fourth
    characters. `between`: the characters that may stand between two labels, one at a time."""
    return _name(_label(_AsciiLabelState(prefix=_RESERVED)), between)


def _name(label: Regular, between: Ranges) -> Regular:
    """Labels of at most 63 characters, at most 253 characters together."""
    labels = concat(label, repeat(concat(chars(between), label)))
    scale = Scale(most=_MOST_LABEL, beyond=_MOST_LABEL + 1, between=between)
    return intersection(length(1, MOST_NAME), weighed(labels, _MOST_LABEL, scale))


class _AsciiLabelState(Acyclic):
    """What the rest of a label depends on: how far it has been read. How long a label is altogether
    is counted elsewhere (see `_name`).

    `free`: whether `prefix`, with which no label begins, is no concern, because the label differs
    from it already or may begin with it. `count`: characters of the label so far, of a free one 0
    or 1. `hyphen`: whether the last one is a hyphen.
    """

    free: bool = False
    count: int = 0
    hyphen: bool = False
    prefix: str = _PUNYCODE

    @property
    def complete(self) -> bool:
        return self.count > 0 and not self.hyphen

    def after(self, character: str) -> _AsciiLabelState:
        free = self.free or self.prefix[self.count] not in ("?", character.lower())
        return replace(
            self, free=free, count=1 if free else self.count + 1, hyphen=character == "-"
        )


def _label(read: _AsciiLabelState) -> Regular:
    missing = 0 if read.complete else 1
    moves = partial(_label_moves, read)
    return state((read,), read.complete, moves, plain=True, to_end=missing, weight=missing)


def _label_moves(read: _AsciiLabelState) -> list[tuple[int, int, Regular]]:
    moves: list[tuple[int, int, Regular]] = []
    prefix = "" if read.free else read.prefix[read.count : read.count + 1]
    if read.count and not (prefix == "-" and read.count == 3):
        moves.append((0x2D, 0x2D, _label(read.after("-"))))
    other = _label(read.after("0"))
    for low, high in _LETTERS:
        special = ord(prefix.upper() if low == 0x41 else prefix) if prefix.isalpha() else -1
        if low <= special <= high:
            moves.append((low, special - 1, other))
            moves.append((special, special, _label(read.after(prefix))))
            low = special + 1
        moves.append((low, high, other))
    return moves


@cache
def email() -> Regular:
    """RFC 5321's `Mailbox`."""
    atom = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
    quoted = r'"([ !#-\[\]-~]|\\[ -~])*"'
    return concat(full_match(rf"({atom}(\.{atom})*|{quoted})@"), _mail_domain(r"A-Za-z0-9"))


@cache
def idn_email() -> Regular:
    """RFC 6531: a `Mailbox` in which characters outside ASCII count as letters."""
    atom = alt(full_match(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"), _NOT_ASCII)
    quoted = alt(full_match(r"[ !#-\[\]-~]|\\[ -~]"), _NOT_ASCII)
    word = repeat(atom, 1)
    quote = char('"')
    local = alt(concat(word, repeat(concat(char("."), word))), concat(quote, repeat(quoted), quote))
    return concat(local, char("@"), _mail_domain(r"A-Za-z0-9\u0080-\u{10FFFF}"))


_NOT_ASCII: Final = chars(((0x80, LAST),))


def _mail_domain(letters: str) -> Regular:
    name = full_match(
        rf"[{letters}]([{letters}-]*[{letters}])?(\.[{letters}]([{letters}-]*[{letters}])?)*"
    )
    literal = concat(
        char("["), alt(ipv4(), concat(full_match("[Ii][Pp][Vv]6:"), ipv6())), char("]")
    )
    return alt(name, literal)


def _groups(left: int) -> Regular:
    """An address from the start of a group on, with `left` groups still to come."""
    group = full_match("[0-9A-Fa-f]{1,4}")
    if left == 1:
        return group
    gap = concat(words(["::"]), _after_gap(left - 2))
    one = concat(group, alt(concat(char(":"), _groups(left - 1)), gap))
    return alt(one, ipv4()) if left == 2 else one


@cache
def _after_gap(most: int) -> Regular:
    """At most `most` groups, after `::`."""
    if most == 0:
        return EPSILON
    group = "[0-9A-Fa-f]{1,4}"
    plain = full_match(rf"({group}(:{group}){{0,{most - 1}}})?")
    if most == 1:
        return plain
    mixed = concat(full_match(rf"({group}:){{0,{most - 2}}}"), ipv4())
    return alt(plain, mixed)
