"""The formats that the drafts of JSON Schema define: the table of their languages by name, and the
languages of times (RFC 3339, leap days and leap seconds included), UUIDs (RFC 4122), URIs (RFC
3986), IRIs (RFC 3987), URI templates (RFC 6570), JSON Pointers (RFC 6901, and relative ones) and
regular expressions (ECMA-262 with its `u` flag).

The syntax of regular expressions itself isn't regular: groups nest, and names and ranges have to
match. The language here is the part of it in which groups nest at most `MOST_NESTING` deep, there
are no back-references and at most one named group, and the ends of a range in a class are digits or
letters of one case.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from operator import itemgetter
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from maskwright.grammar.formats import hosts, idna
from maskwright.grammar.formats.hosts import ipv6
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.beginnings import way_to_end
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.derivative import derivative
from maskwright.grammar.regular.overlay import Arc
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Moves,
    Regular,
    alt,
    char,
    chars,
    concat,
    repeat,
    state,
    words,
)
from maskwright.immutable import Immutable

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
    return _reference(_UNRESERVED, charset.NONE, scheme=True)


@cache
def uri_reference() -> Regular:
    return alt(uri(), _reference(_UNRESERVED, charset.NONE, scheme=False))


@cache
def iri() -> Regular:
    return _reference(charset.union(_UNRESERVED, _BEYOND_ASCII), _PRIVATE, scheme=True)


@cache
def iri_reference() -> Regular:
    unreserved = charset.union(_UNRESERVED, _BEYOND_ASCII)
    return alt(iri(), _reference(unreserved, _PRIVATE, scheme=False))


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


def _reference(unreserved: Ranges, private: Ranges, *, scheme: bool) -> Regular:
    """A reference with a scheme, or one without, so without a colon in the first segment of its
    path, where it would end a scheme.

    `unreserved`: characters that stand for themselves everywhere; `private`: characters that do so
    in a query as well.
    """

    def character(more: str) -> Regular:
        """One character, escaped or not; `more`: those beside the ones that every part has."""
        return alt(chars(charset.union(unreserved, _SUB_DELIMS, charset.of(more))), _ESCAPED)

    def after(mark: str, rest: Regular) -> Regular:
        return repeat(concat(char(mark), rest), 0, 1)

    part, further = character(":@"), repeat(character(":@/?"))
    segments = repeat(concat(char("/"), repeat(part)))
    user = concat(repeat(character(":")), char("@"))
    address = alt(ipv6(), full_match(r"[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+"))
    host = alt(concat(char("["), address, char("]")), repeat(character("")))
    network = concat(words(["//"]), repeat(user, 0, 1), host, full_match(r"(:\d*)?"), segments)
    rooted = concat(char("/"), repeat(concat(repeat(part, 1), segments), 0, 1))
    unrooted = concat(repeat(part if scheme else character("@"), 1), segments)
    query = after("?", repeat(alt(character(":@/?"), chars(private))))
    begin = full_match("[A-Za-z][A-Za-z0-9+.-]*:") if scheme else EPSILON
    return concat(begin, alt(network, rooted, unrooted, EPSILON), query, after("#", further))


MOST_NESTING: Final = 4
_ENDS: Final = (digits, ascii_lowercase, ascii_uppercase)
"""Between which characters of one kind a range in a class may be."""

_PROPERTY: Final = (
    r"(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfo]?|ASCII|Any|Letter|Mark|Number"
    r"|Punctuation|Symbol|Separator|Other|Alphabetic|Uppercase|Lowercase"
    r"|Script=(Latin|Greek|Cyrillic|Han|Arabic|Hebrew|Hiragana|Katakana))"
)


@cache
def regex() -> Regular:
    pattern = _disjunction(MOST_NESTING)
    named = concat(full_match("[A-Za-z_$][A-Za-z0-9_$]*>"), _disjunction(MOST_NESTING - 1))
    # Names have to be unique, so there is one at most: at the top, between any other terms.
    group = concat(words(["(?<"]), named, char(")"), _quantifier())
    # No union of the languages without and with one, which would be read in parallel.
    return concat(pattern, repeat(concat(group, pattern), 0, 1))


@cache
def _disjunction(depth: int) -> Regular:
    """Alternatives, with groups nested at most `depth` deep."""
    terms = repeat(_term(depth))
    return concat(terms, repeat(concat(char("|"), terms)))


def _term(depth: int) -> Regular:
    atom = alt(
        chars(charset.complement(charset.of("^$\\*+?()[]{}|"))), _escape(), character_class()
    )
    assertion = full_match(r"\^|\$|\\[bB]")
    if depth:
        inner = concat(_disjunction(depth - 1), char(")"))
        atom = alt(atom, concat(words(["(", "(?:"]), inner))
        assertion = alt(assertion, concat(words(["(?=", "(?!", "(?<=", "(?<!"]), inner))
    return alt(concat(atom, _quantifier()), assertion)


@cache
def _quantifier() -> Regular:
    """A quantifier, or none. Bounds in braces have at most three digits and are in order; where
    both have three, their first digits differ, so that no automaton remembers all of one."""
    ordered = "|".join(f"{low},[{low}-9]" for low in range(10))
    longer = r"\d,[1-9]\d{1,2}|[1-9]\d,[1-9]\d\d"
    tens = "|".join(rf"{low}\d,[{low + 1}-9]\d" for low in range(9))
    alike = "|".join(
        f"{ten}(" + "|".join(f"{low},{ten}[{low}-9]" for low in range(10)) + ")"
        for ten in range(10)
    )
    hundreds = "|".join(rf"{low}\d\d,[{low + 1}-9]\d\d" for low in range(9))
    pair = f"{ordered}|{longer}|{tens}|{alike}|{hundreds}"
    return full_match(rf"(([*+?]|\{{(\d{{1,3}},?|{pair})\}})\??)?")


@cache
def _escape() -> Regular:
    """An escape that may stand in a class too."""
    plain = r"\\([dDsSwWfnrtv^$\\.*+?()\[\]{}|/]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}"
    brace = r"|u\{0*[0-9A-Fa-f]{1,4}\})"
    return alt(full_match(plain + brace), full_match(rf"\\[pP]\{{{_PROPERTY}\}}"))


def composed_class() -> Regular:
    """What `character_class` is, put together from parts: they say best what a class is, but the
    transitions of each place in one would have to be found anew for every place in a pattern."""
    single = chars(charset.complement(charset.of("\\]-")))
    spans = alt(
        *(
            concat(words([f"{low}-"]), chars(((ord(low), ord(alphabet[-1])),)))
            for alphabet in _ENDS
            for low in alphabet
        )
    )
    first = chars(charset.complement(charset.of("\\]-^")))
    others = alt(_escape(), full_match(r"\\-"), spans)
    member = alt(single, others)
    start = alt(first, others, concat(char("-"), member))
    inside = repeat(concat(start, repeat(member), repeat(char("-"), 0, 1)), 0, 1)
    return concat(char("["), repeat(char("^"), 0, 1), alt(inside, char("-")), char("]"))


@cache
def character_class() -> Regular:
    """A class in brackets. The ends of a range are two digits, two small or two capital letters."""
    moves = [(ord("["), ord("["), _in_class("start"))]
    return _class_state("class", lambda: moves, equal=composed_class())


@cache
def _in_class(place: str) -> Regular:
    """What may follow within a class: at its "start"; where its first member must come after "^";
    after "-first", a hyphen that is its first or only member; after a "member"; after a digit or a
    letter, which may begin a range; after that and "-"; and after "-last"."""
    return _class_state(place, lambda: _moves_in_class(place))


def _class_state(place: str, moves: Moves, equal: Regular | None = None) -> Regular:
    way = way_to_end(_escape())
    assert way is not None
    to_end = way.farthest + len("[]")  # whatever has been read of an escape
    shortest = "[]" if place == "class" else "]"
    key = ("class of a pattern", place)
    return state(key, False, moves, plain=True, shortest=shortest, to_end=to_end, equal=equal)


def _moves_in_class(place: str) -> list[Arc]:
    end = (ord("]"), ord("]"), EPSILON)
    if place == "-last":
        return [end]
    member = _in_class("member")
    if place[1:] == "-":
        last = next(ends[-1] for ends in _ENDS if place[0] in ends)
        return sorted([end, (ord(place[0]), ord(last), member)], key=itemgetter(0))
    escape = alt(derivative(_escape(), "\\"), char("-"))
    apart = {each: _in_class(each) for each in "".join(_ENDS)}
    apart |= {"\\": concat(escape, member), "]": EPSILON, "-": _in_class("-last")}
    match place:
        case "start":
            apart |= {"^": _in_class("^"), "-": _in_class("-first")}
        case "^":
            apart |= {"^": EMPTY, "-": _in_class("-first")}
        case "-first":
            apart["-"] = EMPTY
        case _ if place in apart:
            apart["-"] = _in_class(f"{place}-")
        case _:
            pass
    others = charset.complement(charset.of("".join(apart)))
    moves = [(low, high, member) for low, high in others]
    moves += [(ord(each), ord(each), target) for each, target in apart.items()]
    return sorted((arc for arc in moves if arc[2] is not EMPTY), key=itemgetter(0))


_DAY: Final = 24 * 60
_LAST_MINUTE: Final = _DAY - 1
_MIDNIGHT: Final = "00:00:00Z"
_HELD: Final = charset.of(digits + ":.+-Zz")
"""The characters of times of day."""


@cache
def date() -> Regular:
    leap_year = r"(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
    any_day = (
        r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])"
        r"|(0[469]|11)-(0[1-9]|[12]\d|30)"
        r"|02-(0[1-9]|1\d|2[0-8]))"
    )
    return full_match(rf"\d{{4}}-{any_day}|{leap_year}-02-29")


@cache
def time() -> Regular:
    """A leap second is the last second of a day in UTC. So the automaton remembers the minute of
    the day until the seconds and the offset have been read."""
    return _clock("")


@cache
def date_time() -> Regular:
    return concat(date(), full_match("[Tt]"), time())


@cache
def duration() -> Regular:
    clock = r"T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)"
    days = r"(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)"
    return full_match(rf"P({days}({clock})?|{clock}|\d+W)")


def _clock(read: str) -> Regular:
    """What may follow the characters `read` of `HH:MM:`."""
    return state(
        ("clock", read),
        False,
        partial(_clock_moves, read),
        plain=True,
        shortest=_MIDNIGHT[len(read) :],
        to_end=len(_MIDNIGHT),  # more than an offset takes
        held=_HELD,
    )


def _clock_moves(read: str) -> list[tuple[int, int, Regular]]:
    if len(read) == len("HH:MM"):
        minute = int(read[:2]) * 60 + int(read[3:])
        return [(0x3A, 0x3A, _seconds(minute))]
    following = ("012", "0123" if read == "2" else digits, ":", "012345", digits)[len(read)]
    return [(ord(each), ord(each), _clock(read + each)) for each in following]


@cache
def _usual_seconds() -> Regular:
    return full_match(r"[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)")


def _seconds(minute: int) -> Regular:
    """Seconds and offset after `HH:MM:`, which is minute `minute` of the day: second 60 with the
    offsets that make this minute the last one of a day in UTC."""
    east = (minute - _LAST_MINUTE) % _DAY  # of Greenwich, where clocks are ahead
    west = -east % _DAY
    offsets = [f"+{east // 60:02}:{east % 60:02}", f"-{west // 60:02}:{west % 60:02}"]
    if not east:
        offsets += ["Z", "z"]
    leap_second = concat(words(["60"]), full_match(r"(\.\d+)?"), words(offsets))
    return alt(_usual_seconds(), leap_second)


@cache
def uuid() -> Regular:
    return full_match("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


@cache
def json_pointer() -> Regular:
    return full_match("(/([^/~]|~[01])*)*")


@cache
def relative_json_pointer(shifted: bool) -> Regular:
    """`shifted`: whether an index may be moved (`1+2`), as drafts from 2020-12 on have it."""
    up = full_match(r"(0|[1-9]\d*)([+-][1-9]\d*)?" if shifted else r"0|[1-9]\d*")
    return concat(up, alt(json_pointer(), full_match("#")))


class FormatLanguage(Immutable):
    """The strings of one format.

    `exact`: whether `language` has all strings of the format. It never has any others; where some
    are left out, `note` says which.
    """

    language: Regular
    exact: bool = True
    note: str = ""


@cache
def format_language(name: str, draft: str) -> FormatLanguage | None:
    """The format `name` as `draft` ("draft4" … "draft2020-12") defines it; None if no draft defines
    it, which makes it an annotation."""
    name = _OLD_NAMES.get(name, name)
    if name == "relative-json-pointer":
        return FormatLanguage(relative_json_pointer(draft == "draft2020-12"))
    if name == "hostname" and draft in ("draft3", "draft4", "draft6"):
        return FormatLanguage(hosts.hostname())
    if name not in _FORMATS:
        return None
    note = _LEFT_OUT.get(name, "")
    return FormatLanguage(_FORMATS[name](), exact=not note, note=note)


def format_names() -> tuple[str, ...]:
    """The names of the formats that some draft defines."""
    return (*_FORMATS, "relative-json-pointer")


_OLD_NAMES: Final = {"ip-address": "ipv4", "host-name": "hostname"}
"""The names that draft 3 had for formats of later drafts."""

_LEFT_OUT: Final = {
    "hostname": "labels that begin with xn-- are left out: no small automaton decodes Punycode",
    "idn-hostname": (
        "labels that begin with xn--, long labels outside ASCII, and accents apart from their "
        "letters are left out: no small automaton computes Punycode, or what Unicode composes"
    ),
    "regex": (
        f"back-references, a second named group, groups nested more than {MOST_NESTING} deep, and "
        "unusual ranges, properties and bounds are left out: the syntax of patterns isn't regular"
    ),
}
"""The note on a format of whose strings some are left out."""

_FORMATS: Final[dict[str, Callable[[], Regular]]] = {
    "date": date,
    "time": time,
    "date-time": date_time,
    "duration": duration,
    "email": hosts.email,
    "idn-email": hosts.idn_email,
    "hostname": hosts.plain_hostname,
    "idn-hostname": idna.idn_hostname,
    "ipv4": hosts.ipv4,
    "ipv6": hosts.ipv6,
    "uri": uri,
    "uri-reference": uri_reference,
    "iri": iri,
    "iri-reference": iri_reference,
    "uri-template": uri_template,
    "uuid": uuid,
    "json-pointer": json_pointer,
    "regex": regex,
}
"""The languages that are alike in every draft, or in all later ones."""
