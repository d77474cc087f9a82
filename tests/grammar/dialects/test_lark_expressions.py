"""Right-hand sides of Lark: which tree each construct becomes, where reading ends, and faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maskwright.errors import GrammarError, LimitError
from maskwright.grammar.dialects.lark import LarkReader
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.dialects.syntax import (
    Both,
    Either,
    Json,
    Literal,
    Name,
    Node,
    Not,
    Series,
    Special,
    Times,
)
from maskwright.grammar.regular.derivative import contains
from maskwright.limits import DEFAULT_LIMITS

A, B, C = (Name(name, 0) for name in "abc")


def read(text: str, depth: int = DEFAULT_LIMITS.schema_depth) -> tuple[Node, str]:
    """The tree of the expression at the start of a text, and the text after it."""
    limits = replace(DEFAULT_LIMITS, schema_depth=depth)
    reader = LarkReader(text, GrammarTokens({"<tool>": 5}), limits)
    return reader.choice(), text[reader.text.at :]


def unplaced(node: Node) -> Node:
    """A tree with every place set to 0."""
    match node:
        case Name(name=name, arguments=arguments):
            return Name(name, 0, tuple(map(unplaced, arguments)))
        case Series(parts=parts):
            return Series(tuple(map(unplaced, parts)))
        case Either(options=options):
            return Either(tuple(map(unplaced, options)))
        case Times(body=body, least=least, most=most):
            return Times(unplaced(body), least, most)
        case Both(parts=parts):
            return Both(tuple(map(unplaced, parts)), 0)
        case Not(body=body):
            return Not(unplaced(body), 0)
        case Special(ids=ids):
            return Special(ids, 0)
        case Literal() | Json():
            return node


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("", Series(())),
        ("a b", Series((A, B))),
        ("a | b c", Either((A, Series((B, C))))),
        ("a & b | c", Either((Both((A, B), 0), C))),
        ("(a | b) c", Series((Either((A, B)), C))),
        ("[a]", Times(A, 0, 1)),
        ("a* b+ c?", Series((Times(A, 0, None), Times(B, 1, None), Times(C, 0, 1)))),
        ("a{x}*", Times(Name("a", 0, (Name("x", 0),)), 0, None)),
        ("a~3", Times(A, 3, 3)),
        ("a ~ 2..4", Times(A, 2, 4)),
        ("a{3}", Times(A, 3, 3)),
        ("a{3,}", Times(A, 3, None)),
        ("a{,5}", Times(A, 0, 5)),
        ("a{3,5}", Times(A, 3, 5)),
        ("~a*", Times(Not(A, 0), 0, None)),
        ("~(a b)", Not(Series((A, B)), 0)),
        ("t{a, b c}", Name("t", 0, (A, Series((B, C))))),
        ("t{u{a}}*", Times(Name("t", 0, (Name("u", 0, (A,)),)), 0, None)),
        ("a-b", Name("a-b", 0)),
        ("a -> name | b", Either((A, B))),
        ("a // | b\n # c\n b", Series((A, B))),
        ("<tool> a", Series((Special(((5, 5),), 0), A))),
    ],
)
def test_trees(text: str, expected: Node) -> None:
    node, rest = read(text)
    assert unplaced(node) == expected
    assert rest == ""


@pytest.mark.parametrize(
    ("text", "accepted", "rejected"),
    [
        ('"ab"', ["ab"], ["AB", "a"]),
        ('""', [""], ["a"]),
        ('"aé"i', ["aé", "AÉ", "Aé"], ["ae"]),
        ('"a".."c"', ["a", "b", "c"], ["d", "a..c"]),
        (r'"\"\n\u00e9"', ['"\né'], ["\\"]),
        ("/[a-c]+/", ["a", "cab"], ["", "d"]),
        ("/a.b/is", ["A\nb"], ["ab"]),
        (r"/a\/b/", ["a/b"], ["a\\/b"]),
        ('/".*?"/', ['"a"'], ['"a"b"']),
        ('%regex {"substring_chars": "abc"}', ["", "bc"], ["ac"]),
        ('%regex {"substring_words": "to be. not"}', ["to be", "be. "], ["o be"]),
        ('%regex {"substring_chunks": ["ab", "c"]}', ["ab", "abc"], ["b"]),
    ],
)
def test_literals(text: str, accepted: list[str], rejected: list[str]) -> None:
    node, rest = read(text)
    assert isinstance(node, Literal)
    assert rest == ""
    assert [t for t in accepted + rejected if contains(node.language, t)] == accepted


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a)", ")"),
        ("a\nb: c", "b: c"),
        ("a\n?b.2: c", "?b.2: c"),
        ("a ?b: c", "?b: c"),
        ('a\nb[capture="x"]: c', 'b[capture="x"]: c'),
        ("a\nt{x, y}: c", "t{x, y}: c"),
        ("a\n%ignore b", "%ignore b"),
        ("a %json {} | b\n%import c", "%import c"),
    ],
)
def test_where_reading_ends(text: str, rest: str) -> None:
    assert read(text)[1] == rest


def test_places() -> None:
    node, _ = read('a "b" ~c %json {}')
    assert isinstance(node, Series)
    assert [part.at for part in node.parts if not isinstance(part, Series | Either | Times)] == [
        0,
        2,
        6,
        9,
    ]
    assert isinstance(node.parts[3], Json)


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("(a", 1, "expected ')', not the end of the grammar, to close this group"),
        ("a [b)", 3, "expected ']', not ')'"),
        ("a -> 1", 6, "an alias is a name"),
        ('"a"{x}', 4, "a count is written"),
        ('"a"{,}', 4, "a count is written"),
        ("a{3,2}", 2, "wrong order"),
        ("a~3..2", 2, "wrong order"),
        ('"a"**', 5, "a repeat of a repeat needs a group"),
        ("a~2~3", 4, "a repeat of a repeat needs a group"),
        ("a*?", 3, "a repeat of a repeat needs a group"),
        ("a{2} +", 5, "a repeat of a repeat needs a group"),
        ("t{a b", 1, "the arguments of a template stand in braces"),
        ('"b".."a"', 1, "a range is from one character to a later one"),
        ('"ab".."c"', 1, "a range is from one character to a later one"),
        ('"a"..b', 1, 'a range of characters is written "a".."z"'),
        ("/a", 1, "a regular expression is not closed"),
        ("/a/q", 1, "flag 'q'"),
        (r"/\/\/(/", 6, "in this regular expression"),
        ("a $", 3, "expected a name"),
        ("a::b", 1, "parametric rules"),
        ("@a", 1, "references to other grammars"),
        ("a %foo", 3, "inside a rule there are"),
        ("%lark {}", 1, "nested grammars"),
        ('%json {"a"', 11, "this is not valid JSON"),
        ('%json {"type": 5}', 1, "in this schema"),
        ("%regex {}", 1, "%regex takes an object"),
        ('%regex {"substring_chars": "a", "x": 1}', 1, "%regex takes an object"),
        ('%regex {"substring_chunks": ["a", 1]}', 1, "%regex takes an object"),
    ],
)
def test_faults(text: str, column: int, reason: str) -> None:
    with pytest.raises(GrammarError) as caught:
        read(text)
    assert reason in caught.value.reason
    assert caught.value.column == column


def test_limit_of_nesting() -> None:
    assert unplaced(read("(~t{a})", 3)[0]) == Not(Name("t", 0, (A,)), 0)
    for text in ("(((a)))", "[([a])]", "~~~a", "t{t{t{a}}}"):
        read(text, 3)
        with pytest.raises(LimitError, match="groups nested too deep"):
            read(text, 2)
