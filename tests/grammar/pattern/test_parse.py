"""Regular expressions to trees: what each construct is read as, and where a fault is shown."""

from __future__ import annotations

import pytest

from maskwright.errors import LimitError, RegexError
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.tree import (
    Anchor,
    Choice,
    Class,
    Concat,
    Intersection,
    Lookahead,
    Lookbehind,
    Negation,
    Pattern,
    Quantified,
)
from maskwright.grammar.regular import charset
from maskwright.limits import Limits

ECMA, PYTHON, ALGEBRA = Flags(), Flags(syntax="python"), Flags(algebra=True)
A, B, C = (Class(charset.of(character)) for character in "abc")
EMPTY = Concat(())


@pytest.mark.parametrize(
    ("text", "flags", "tree"),
    [
        ("", ECMA, EMPTY),
        ("ab", ECMA, Concat((A, B))),
        ("a|bc|", ECMA, Choice((A, Concat((B, C)), EMPTY))),
        ("(a)", ECMA, A),
        ("(?:a|b)c", ECMA, Concat((Choice((A, B)), C))),
        ("(?<n>a)(?P<m>b)", ECMA, Concat((A, B))),
        ("a*", ECMA, Quantified(A, 0, None)),
        ("ab+", ECMA, Concat((A, Quantified(B, 1, None)))),
        ("a??", ECMA, Quantified(A, 0, 1, lazy=True)),
        ("a{2}", ECMA, Quantified(A, 2, 2)),
        ("a{2,}?", ECMA, Quantified(A, 2, None, lazy=True)),
        ("a{2,3}", ECMA, Quantified(A, 2, 3)),
        ("a{,3}", PYTHON, Quantified(A, 0, 3)),
        ("a{", ECMA, Concat((A, Class(charset.of("{"))))),
        ("{a}", ECMA, Concat((Class(charset.of("{")), A, Class(charset.of("}"))))),
        ("(?:^)*a", ECMA, Concat((Quantified(Anchor("start"), 0, None), A))),
        ("^a$", ECMA, Concat((Anchor("start"), A, Anchor("end")))),
        (r"\Aa\Z", PYTHON, Concat((Anchor("start"), A, Anchor("end")))),
        ("(?=a)b", ECMA, Concat((Lookahead(A, negative=False), B))),
        ("(?!a)b", ECMA, Concat((Lookahead(A, negative=True), B))),
        ("a(?<=b)", ECMA, Concat((A, Lookbehind(B, negative=False)))),
        ("a(?<!b)", ECMA, Concat((A, Lookbehind(B, negative=True)))),
        ("a&b|c", ALGEBRA, Choice((Intersection((A, B)), C))),
        ("~a*", ALGEBRA, Quantified(Negation(A), 0, None)),
        ("~(ab)", ALGEBRA, Negation(Concat((A, B)))),
        ("a&b", ECMA, Concat((A, Class(charset.of("&")), B))),
        ("~a", ECMA, Concat((Class(charset.of("~")), A))),
        ("(?x)a # b|c\n b", PYTHON, Concat((A, B))),
        ("a(?#b|c)b", PYTHON, Concat((A, B))),
        ("(?i:a)b", ECMA, Concat((Class(charset.of("aA")), B))),
        ("(?i)a", PYTHON, Class(charset.of("aA"))),
        ("(?i:a(?-i:b)c)", ECMA, Concat((Class(charset.of("aA")), B, Class(charset.of("cC"))))),
    ],
)
def test_the_tree_of_a_pattern(text: str, flags: Flags, tree: Pattern) -> None:
    assert parse_pattern(text, flags=flags) == tree


@pytest.mark.parametrize(
    ("text", "flags", "characters", "others"),
    [
        (".", ECMA, "a\x00\x85", "\n\r\u2028\u2029"),
        (".", PYTHON, "a\r\u2028", "\n"),
        ("(?s:.)", ECMA, "a\n\u2028", ""),
        ("(?s:.)", PYTHON, "a\n", ""),
    ],
)
def test_the_characters_of_a_dot(text: str, flags: Flags, characters: str, others: str) -> None:
    tree = parse_pattern(text, flags=flags)
    assert isinstance(tree, Class)
    assert charset.intersection(tree.ranges, charset.of(characters)) == charset.of(characters)
    assert charset.intersection(tree.ranges, charset.of(others)) == ()


@pytest.mark.parametrize(
    ("text", "flags", "position", "message"),
    [
        ("a)", ECMA, 1, "unmatched"),
        ("b(a", ECMA, 1, "not closed"),
        ("b[a", ECMA, 1, "not closed"),
        ("a|*", ECMA, 2, "nothing to repeat"),
        ("b^*", ECMA, 1, "nothing to repeat"),
        ("a**", ECMA, 2, "after a quantifier"),
        ("a{3,2}", ECMA, 1, "wrong order"),
        ("a(?<>b)", ECMA, 4, "group name"),
        ("a(?i)b", ECMA, 1, "flags alone"),
        ("a(?i)b", PYTHON, 1, "at its start"),
        ("a(?z:b)", ECMA, 1, "there is no flag 'z'"),
        ("a\\", ECMA, 1, "backslash"),
        ("(?#a", PYTHON, 0, "comment"),
        ("a&~", ALGEBRA, 2, "nothing to complement"),
    ],
)
def test_a_fault_and_its_place(text: str, flags: Flags, position: int, message: str) -> None:
    with pytest.raises(RegexError, match=message) as caught:
        parse_pattern(text, flags=flags)
    assert (caught.value.position, caught.value.unsupported) == (position, "alone" in message)


@pytest.mark.parametrize(
    ("text", "flags", "position", "message"),
    [
        (r"(a)\1", ECMA, 3, "back-references"),
        (r"(?P<n>a)(?P=n)", PYTHON, 8, "back-references"),
        (r"a\k<n>", ECMA, 1, "back-references"),
        ("a(?>b)", ECMA, 1, "atomic"),
        ("a++", PYTHON, 2, "possessive"),
        ("a(?(1)b|c)", PYTHON, 1, "conditional"),
        ("a(?R)", ECMA, 1, "recursion"),
        ("(?<=a$)b", ECMA, 0, "lookbehind"),
        ("(?<=a(?=b))b", ECMA, 0, "lookbehind"),
    ],
)
def test_what_no_automaton_can_do_is_refused_by_name(
    text: str, flags: Flags, position: int, message: str
) -> None:
    with pytest.raises(RegexError, match=message) as caught:
        parse_pattern(text, flags=flags)
    assert (caught.value.position, caught.value.unsupported) == (position, True)


@pytest.mark.parametrize(
    ("text", "limits", "limit"),
    [
        ("abcd", Limits(pattern_length=3), "pattern_length"),
        ("(a)bc", Limits(pattern_terms=3), "pattern_terms"),
        ("((a))", Limits(schema_depth=1), "schema_depth"),
    ],
)
def test_a_pattern_is_bounded(text: str, limits: Limits, limit: str) -> None:
    with pytest.raises(LimitError) as caught:
        parse_pattern(text, limits)
    assert caught.value.limit == limit
    parse_pattern("abc"[: 3 - (limit == "pattern_terms")], limits)
