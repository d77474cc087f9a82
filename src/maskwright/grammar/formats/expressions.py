"""Regular expressions in the syntax of ECMA-262 with its `u` flag.

The syntax itself isn't regular: groups nest, and names and ranges have to match. The language here
is the part of it in which groups nest at most `MOST_NESTING` deep, there are no back-references and
at most one named group, and the ends of a range in a class are digits or letters of one case.
"""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.terms import Regular, alt, char, chars, concat, repeat, words

MOST_NESTING: Final = 4

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
    return alt(pattern, concat(pattern, group, pattern))


@cache
def _disjunction(depth: int) -> Regular:
    """Alternatives, with groups nested at most `depth` deep."""
    terms = repeat(_term(depth))
    return concat(terms, repeat(concat(char("|"), terms)))


def _term(depth: int) -> Regular:
    atom = alt(chars(charset.complement(charset.of("^$\\*+?()[]{}|"))), _escape(), _class())
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


@cache
def _class() -> Regular:
    """A class in brackets. The ends of a range are two digits, two small or two capital letters."""
    single = chars(charset.complement(charset.of("\\]-")))
    spans = alt(
        *(
            concat(words([f"{low}-"]), chars(((ord(low), ord(alphabet[-1])),)))
            for alphabet in (digits, ascii_lowercase, ascii_uppercase)
            for low in alphabet
        )
    )
    first = chars(charset.complement(charset.of("\\]-^")))
    others = alt(_escape(), full_match(r"\\-"), spans)
    member = alt(single, others)
    start = alt(first, others, concat(char("-"), member))
    inside = repeat(concat(start, repeat(member), repeat(char("-"), 0, 1)), 0, 1)
    return concat(char("["), repeat(char("^"), 0, 1), alt(inside, char("-")), char("]"))
