"""Regular expressions in the syntax of ECMA-262 with its `u` flag.

The syntax itself isn't regular: groups nest, and names and ranges have to match. The language here
is the part of it in which groups nest at most `MOST_NESTING` deep, there are no back-references and
at most one named group, and the ends of a range in a class are digits or letters of one case.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.beginnings import way_to_end
from maskwright.grammar.regular.character_classes import Arc
from maskwright.grammar.regular.derivative import derivative
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
    """A quantifier, or none. Bounds in braces have at most three digits and are in order."""
    ordered = "|".join(f"{low},[{low}-9]" for low in range(10))
    longer = r"\d,[1-9]\d{1,2}|[1-9]\d,[1-9]\d\d"
    tens = "|".join(rf"{low}\d,[{low + 1}-9]\d" for low in range(1, 9))
    return full_match(rf"(([*+?]|\{{(\d{{1,3}},?|{ordered}|{longer}|{tens})\}})\??)?")


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
    return state(
        key, False, moves, plain=True, shortest=lambda: shortest, to_end=to_end, equal=equal
    )


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
