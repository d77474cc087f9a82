"""URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570)."""

from __future__ import annotations

from functools import cache
from typing import Final

from maskwright.grammar.formats.hosts import ipv6
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.terms import (
    EPSILON,
    Regular,
    alt,
    char,
    chars,
    concat,
    repeat,
    words,
)

_LETTERS: Final = ((0x41, 0x5A), (0x61, 0x7A))
_UNRESERVED: Final = charset.union(_LETTERS, ((0x30, 0x39),), charset.of("-._~"))
_SUB_DELIMS: Final = charset.of("!$&'()*+,;=")
_BEYOND_ASCII: Final = (
    (0xA0, 0xD7FF),
    (0xF900, 0xFDCF),
    (0xFDF0, 0xFFEF),
    *((plane << 16, (plane << 16) + 0xFFFD) for plane in range(1, 14)),
    (0xE1000, 0xEFFFD),
)
"""RFC 3987's `ucschar`."""
_PRIVATE: Final = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))
"""RFC 3987's `iprivate`."""


@cache
def uri() -> Regular:
    return _absolute(_UNRESERVED, charset.NONE)


@cache
def uri_reference() -> Regular:
    return alt(uri(), _relative(_UNRESERVED, charset.NONE))


@cache
def iri() -> Regular:
    return _absolute(charset.union(_UNRESERVED, _BEYOND_ASCII), _PRIVATE)


@cache
def iri_reference() -> Regular:
    return alt(iri(), _relative(charset.union(_UNRESERVED, _BEYOND_ASCII), _PRIVATE))


@cache
def uri_template() -> Regular:
    literal = charset.union(
        ((0x23, 0x24), (0x26, 0x3B), (0x3F, 0x5B), (0x61, 0x7A)),
        charset.of("!=]_~"),
        _BEYOND_ASCII,
        _PRIVATE,
    )
    name = r"([A-Za-z0-9_]|%[0-9A-Fa-f]{2})"
    variable = rf"{name}(\.?{name})*(:[1-9]\d{{0,3}}|\*)?"
    expression = full_match(rf"\{{[+#./;?&=,!@|]?{variable}(,{variable})*\}}")
    return repeat(alt(chars(literal), _ESCAPED, expression))


_ESCAPED: Final = full_match("%[0-9A-Fa-f]{2}")


def _absolute(unreserved: Ranges, private: Ranges) -> Regular:
    """A reference with a scheme. `unreserved`: characters that stand for themselves everywhere;
    `private`: characters that do so in a query as well."""
    segments = repeat(concat(char("/"), repeat(_path_char(unreserved, ":@"))))
    rootless = concat(repeat(_path_char(unreserved, ":@"), 1), segments)
    path = alt(_network_path(unreserved), _rooted(unreserved), rootless, EPSILON)
    return concat(
        full_match("[A-Za-z][A-Za-z0-9+.-]*:"), path, _query_and_fragment(unreserved, private)
    )


def _relative(unreserved: Ranges, private: Ranges) -> Regular:
    """A reference without a scheme, so without a colon in the first segment of its path, where it
    would end a scheme."""
    segments = repeat(concat(char("/"), repeat(_path_char(unreserved, ":@"))))
    unrooted = concat(repeat(_path_char(unreserved, "@"), 1), segments)
    path = alt(_network_path(unreserved), _rooted(unreserved), unrooted, EPSILON)
    return concat(path, _query_and_fragment(unreserved, private))


def _network_path(unreserved: Ranges) -> Regular:
    """Two slashes, an authority (user, host and port) and a path."""
    user = concat(repeat(_path_char(unreserved, ":")), char("@"))
    address = alt(ipv6(), full_match(r"[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+"))
    host = alt(concat(char("["), address, char("]")), repeat(_path_char(unreserved, "")))
    port = full_match(r"(:\d*)?")
    segments = repeat(concat(char("/"), repeat(_path_char(unreserved, ":@"))))
    return concat(words(["//"]), repeat(user, 0, 1), host, port, segments)


def _rooted(unreserved: Ranges) -> Regular:
    """A path that begins with one slash."""
    part = _path_char(unreserved, ":@")
    segments = repeat(concat(char("/"), repeat(part)))
    return concat(char("/"), repeat(concat(repeat(part, 1), segments), 0, 1))


def _query_and_fragment(unreserved: Ranges, private: Ranges) -> Regular:
    fragment = repeat(_path_char(unreserved, ":@/?"))
    query = repeat(alt(_path_char(unreserved, ":@/?"), chars(private)))
    return concat(repeat(concat(char("?"), query), 0, 1), repeat(concat(char("#"), fragment), 0, 1))


def _path_char(unreserved: Ranges, more: str) -> Regular:
    """One character as a path may have it, escaped or not; `more`: others beside those."""
    return alt(chars(charset.union(unreserved, _SUB_DELIMS, charset.of(more))), _ESCAPED)
