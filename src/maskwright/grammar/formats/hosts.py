"""Internet addresses, host names and mailboxes."""

from __future__ import annotations

from functools import cache
from typing import Final

from maskwright.grammar.charset import LAST
from maskwright.grammar.regular import (
    EPSILON,
    Regular,
    alt,
    both,
    char,
    chars,
    concat,
    length,
    repeat,
    words,
)
from maskwright.grammar.translate import full_match

MOST_NAME: Final = 253
"""Characters of a host name: what fits into the 255 octets of RFC 1035."""

_LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PLAIN_LABEL: Final = (
    r"([A-WYZa-wyz0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"|[Xx]([A-MO-Za-mo-z0-9-]([A-Za-z0-9-]{0,60}[A-Za-z0-9])|[A-MO-Za-mo-z0-9])?"
    r"|[Xx][Nn]-?([A-Za-z0-9]([A-Za-z0-9-]{0,58}[A-Za-z0-9])?)"
    r"|[Xx][Nn]([A-Za-z0-9][A-Za-z0-9-]{59}[A-Za-z0-9])?)"
)
"""A label that doesn't begin with `xn--`."""


@cache
def ipv4() -> Regular:
    octet = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
    return full_match(rf"{octet}(\.{octet}){{3}}")


@cache
def ipv6() -> Regular:
    """RFC 4291, section 2.2: eight groups, of which `::` stands for one or more."""
    return alt(concat(words(["::"]), _behind_gap(7)), _groups(8))


@cache
def hostname() -> Regular:
    """RFC 1123, section 2.1, with any label that begins with `xn--`."""
    return _dotted(full_match(_LABEL))


@cache
def plain_hostname() -> Regular:
    """The same without any label that begins with `xn--`."""
    return _dotted(plain_label())


@cache
def plain_label() -> Regular:
    return full_match(_PLAIN_LABEL)


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


def _dotted(label: Regular) -> Regular:
    name = concat(label, repeat(concat(char("."), label)))
    return both(length(1, MOST_NAME), name)


def _groups(left: int) -> Regular:
    """At the start of a group, with `left` groups missing."""
    group = full_match("[0-9A-Fa-f]{1,4}")
    if left == 1:
        return group
    gap = concat(words(["::"]), _behind_gap(left - 2))
    one = concat(group, alt(concat(char(":"), _groups(left - 1)), gap))
    return alt(one, ipv4()) if left == 2 else one


@cache
def _behind_gap(most: int) -> Regular:
    """At most `most` groups, behind `::`."""
    if most == 0:
        return EPSILON
    group = "[0-9A-Fa-f]{1,4}"
    plain = full_match(rf"({group}(:{group}){{0,{most - 1}}})?")
    if most == 1:
        return plain
    mixed = concat(full_match(rf"({group}:){{0,{most - 2}}}"), ipv4())
    return alt(plain, mixed)
