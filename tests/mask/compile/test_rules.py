"""Rules compiled: what stands in them beside terminals, what is forced, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright import Grammar, Limits, Matcher, Vocabulary
from maskwright.errors import (
    InputError,
    LimitError,
    UnsatisfiableGrammarError,
    UnsupportedGrammarError,
)
from maskwright.grammar.regular.terms import char, complement, intersection, repeat, words
from maskwright.grammar.rules.tree import (
    Capture,
    Choice,
    Concat,
    Cut,
    Expression,
    JsonValue,
    Ref,
    Repeat,
    Rules,
    SpecialToken,
    Terminal,
)
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.tags.free_text import text_until, text_without
from maskwright.mask.compile.rules import compile_rules
from tests.matching import BYTES, EVERY_BYTE, after, allowed, matches, shortest_ending, spelled

SPECIAL = Vocabulary((*BYTES, b"ab", b"", b"", b"", b"", b"call"), special=(257, 258, 259), eos=260)
"""Every byte, `ab`, three special tokens, an end token, `call`."""


def text(string: str) -> Terminal:
    return Terminal(words([string]))


def value(schema: Any, **options: Any) -> JsonValue:
    return JsonValue(parse_schema(schema, ParseOptions()).root, **options)


def token(*ids: int) -> SpecialToken:
    return SpecialToken(tuple((each, each) for each in ids))


def grammar_of(*parts: Expression, vocab: Vocabulary = EVERY_BYTE, **rules: Expression) -> Grammar:
    return compile_rules(Rules("start", {"start": Concat(parts), **rules}), vocab)


def taking(grammar: Grammar, *steps: str | int) -> Matcher | None:
    """A matcher behind texts and tokens, None if one of them is not allowed."""
    matcher = grammar.matcher()
    for step in steps:
        if isinstance(step, int):
            if step not in allowed(matcher) or not matcher.accept(step):
                return None
        elif matcher.accept_bytes(step.encode()) < len(step.encode()):
            return None
    return matcher


NUMBERS = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "additionalProperties": False,
}

IN_TEXT = [
    ((text("<"), value(NUMBERS), text(">")), ['<{"n": 1}>', "<{}>"], ['<{"n": "1"}>', "{}", "<{}"]),
    (
        (Repeat(Concat((value({"type": "boolean"}), text(";")))),),
        ["", "true;false;"],
        ["true"],
    ),
    ((value(NUMBERS), text("a")), ["{}a", '{"n":12}a'], ["{} a", "{}"]),
    ((value({"type": "integer"}), text(" km")), ["12 km"], ["12km", "x km"]),
    ((value({"type": "string"}), Repeat(text("!"))), ['"a"', '"!"!!'], ["a!", '"a"?']),
    (
        (
            Choice(
                (
                    Concat((value({"const": 1}), text("a"))),
                    Concat((value({"const": 2}), text("b"))),
                )
            ),
        ),
        ["1a", "2b"],
        ["1b", "2a", "1"],
    ),
    (
        (
            Choice(
                (
                    Concat((value({"type": "object"}), text("a"))),
                    Concat((value(NUMBERS), text("b"))),
                )
            ),
        ),
        ['{"x":1}a', '{"n":1}b', '{"n":1}a', '{"n":"1"}a'],
        ['{"x":1}b', '{"n":"1"}b'],
    ),
    ((Choice((value({"type": "number"}), text("none"))),), ["none", "-1.5"], ["nonе", "null"]),
    ((Choice((value({"not": {}}), text("x"))),), ["x"], ["1"]),
    ((Repeat(value({"type": "null"}), 0, 2),), ["", "null", "nullnull"], ["nullnullnull", "nul"]),
]


@pytest.mark.parametrize(("parts", "right", "wrong"), IN_TEXT)
def test_values_within_rules(
    parts: tuple[Expression, ...], right: list[str], wrong: list[str]
) -> None:
    grammar = grammar_of(*parts)
    assert [each for each in right if not matches(grammar, each)] == []
    assert [each for each in wrong if matches(grammar, each)] == []
    for each in right:
        for end in range(len(each)):
            begun = after(grammar, each[:end])
            assert begun is not None
            assert matches(grammar, each[:end].encode() + shortest_ending(begun))


def test_a_cut_gives_up_what_is_read_beside_it() -> None:
    """As soon as the text has been read; before, the other alternatives go on."""
    text_cut = Choice((Concat((Cut(text("ab")), text("!"))), text("abc"), text("ad")))
    assert matches(grammar_of(text_cut), "ab!")
    assert matches(grammar_of(text_cut), "ad")
    assert after(grammar_of(text_cut), "abc") is None
    value_cut = Choice((Concat((Cut(text('{"n": 1')), text("!"))), value(NUMBERS)))
    for right in ('{"n": 1!', '{"n": 2}', '{"n":1}', '{"n": -1}', "{}"):
        assert matches(grammar_of(value_cut), right), right
    assert after(grammar_of(value_cut), '{"n": 12') is None
    beside_text = Choice((Cut(text("{x")), value(NUMBERS), Terminal(repeat(char("{"), 1))))
    with pytest.raises(UnsupportedGrammarError, match="where a text may too"):
        grammar_of(beside_text)


def test_values_nest_with_rules() -> None:
    """A rule calls itself around values, and each value is on a stack of its own."""
    body = Concat((text("("), Choice((Ref("list"), value(NUMBERS))), text(")")))
    grammar = compile_rules(Rules("list", {"list": Repeat(body, 1)}), EVERY_BYTE)
    assert matches(grammar, '((({"n": 1})({})))({})')
    assert not matches(grammar, '((({"n": 1})({}))({})')
    begun = after(grammar, '((({"n": 1')
    assert begun is not None
    assert matches(grammar, b'((({"n": 1' + shortest_ending(begun))


@pytest.mark.parametrize(
    ("options", "right", "wrong"),
    [
        ({"whitespace": "compact"}, '{"b":1,"a":2}', '{"b": 1, "a": 2}'),
        ({"whitespace": "spaced"}, '{"b": 1, "a": 2}', '{"b":1,"a":2}'),
        ({"whitespace": "pretty"}, '{\n  "b": 1,\n  "a": 2\n}', '{"b": 1, "a": 2}'),
        ({"property_order": "any"}, '{"a": 2, "b":1}', '{"a": 2, "a": 2}'),
        ({"property_order": "schema"}, '{"b": 2, "a":1}', '{"a": 2, "b": 1}'),
    ],
)
def test_each_value_is_written_as_it_asks_for(options: Any, right: str, wrong: str) -> None:
    both_named = {
        "properties": {"b": {"type": "integer"}, "a": {"type": "integer"}},
        "type": "object",
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    grammar = grammar_of(value(both_named, **options), text("|"), value(both_named))
    assert matches(grammar, right + '|{"b" :1,\n"a":2}')
    assert not matches(grammar, wrong + '|{"b" :1,\n"a":2}')
    assert json.loads(shortest_ending(grammar.matcher()).partition(b"|")[0]) == {"a": 0, "b": 0}


def test_names_that_a_value_has_are_remembered_within_rules() -> None:
    grammar = grammar_of(text('say "a" {"x'), value({"type": "object"}), text("."))
    assert matches(grammar, 'say "a" {"x{"x": 1, "y": {"x": 2}}.')
    assert not matches(grammar, 'say "a" {"x{"x": 1, "x": 2}.')
    items = grammar_of(text("[1,"), value({"type": "array", "uniqueItems": True}), text("."))
    assert matches(items, "[1,[1,2].")
    assert not matches(items, "[1,[1,1].")


def test_what_can_not_be_told_from_a_value_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedGrammarError, match=r"may begin with '{' where a text may"):
        grammar_of(Choice((Terminal(text_without(("<",))), value(NUMBERS))))


BRACE = Capture("brace", text("{"))
MIXED: list[tuple[str, tuple[Any, ...]]] = [
    ("behind a text that may lack", (text("a"), Repeat(BRACE, 0, 1), value(NUMBERS))),
    ("in a loop", (text("a"), Repeat(value(NUMBERS)), text("{{"))),
    ("behind a loop", (text("a"), Repeat(BRACE, 0, 4), value(NUMBERS))),
    ("at the end of a loop that counts", (text("a"), Repeat(value(NUMBERS), 2, 3), text("{{"))),
    ("of two kinds", (text("a"), Choice((value(NUMBERS), value(NUMBERS, whitespace="compact"))))),
]


@pytest.mark.parametrize("parts", [c[1] for c in MIXED], ids=[c[0] for c in MIXED])
def test_that_is_refused_before_a_text_comes_there(parts: tuple[Any, ...]) -> None:
    with pytest.raises(UnsupportedGrammarError, match="a JSON value may begin with"):
        grammar_of(*parts)


APART: list[tuple[str, tuple[Any, ...], str]] = [
    ("told by the first byte", (Repeat(text("a"), 0, 1), value(NUMBERS)), "{}"),
    ("a loop of so many", (text("a"), Repeat(value(NUMBERS), 2, 2), text("{")), "a{}{}{"),
    (
        "in a place that no text comes to",
        (text("a"), Choice((text("{"), Concat((text(""), Choice(()), value(NUMBERS)))))),
        "a{",
    ),
]


@pytest.mark.parametrize(("parts", "right"), [c[1:] for c in APART], ids=[c[0] for c in APART])
def test_values_that_can_be_told_apart_are_not_refused(parts: tuple[Any, ...], right: str) -> None:
    assert matches(grammar_of(*parts), right)


# Special tokens


def test_special_tokens_stand_only_where_rules_have_them() -> None:
    grammar = grammar_of(text("a"), token(257), text("ab"), Repeat(token(258, 259)), vocab=SPECIAL)
    matcher = grammar.matcher()
    assert allowed(matcher) == {ord("a")}
    assert matcher.accept(ord("a"))
    assert allowed(matcher) == {257}
    assert not matcher.accept(255)
    assert matcher.accept(257)
    assert allowed(matcher) == {ord("a"), 256}
    assert matcher.accept(256)
    assert allowed(matcher) == {258, 259, 260}
    assert matcher.accept(259)
    assert matcher.accept(258)
    assert matcher.accepting
    assert matcher.accept(260)
    matcher.rollback(3)
    assert allowed(matcher) == {258, 259, 260}


def test_special_tokens_beside_text() -> None:
    """Free text ends at a token, and nothing but the token ends it."""
    grammar = grammar_of(Terminal(text_without()), token(257), text("b"), vocab=SPECIAL)
    matcher = taking(grammar, "some text", 257)
    assert matcher is not None
    assert allowed(matcher) == {ord("b")}
    begun = taking(grammar, "some text")
    assert begun is not None
    assert 257 in allowed(begun)
    assert not {258, 259, 260, 255} & allowed(begun)


def test_tokens_that_overlap_are_told_apart_by_id() -> None:
    one = Concat((SpecialToken(((257, 258),)), text("a")))
    other = Concat((SpecialToken(((258, 259),)), text("b")))
    grammar = grammar_of(Choice((one, other)), vocab=SPECIAL)
    found = {each: taking(grammar, each) for each in (257, 258, 259)}
    following = {each: matcher and allowed(matcher) for each, matcher in found.items()}
    assert following == {257: {97}, 258: {97, 98}, 259: {98}}


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (((256, 257),), "token 256 is no special token: write its text"),
        (((260, 260),), "token 260 ends the text"),
        (((999, 999),), "token 999 is not in the vocabulary of 262 tokens"),
    ],
)
def test_other_tokens_are_refused(ids: tuple[tuple[int, int], ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        grammar_of(SpecialToken(ids), vocab=SPECIAL)


def test_forced_tokens_go_through_special_ones() -> None:
    grammar = grammar_of(text("call"), token(258), text("ab"), token(257), vocab=SPECIAL)
    assert grammar.matcher().forced_tokens() == [261, 258, 256, 257]
    open_ended = grammar_of(text("call"), token(257, 258), text("x"), vocab=SPECIAL)
    assert open_ended.matcher().forced_tokens() == [261]


def test_budgets_count_a_special_token_as_one() -> None:
    grammar = grammar_of(
        text("call"), Repeat(text("x")), token(258), Repeat(text("ab")), token(257), vocab=SPECIAL
    )
    assert grammar.min_tokens == 3
    matcher = grammar.matcher()
    assert allowed(matcher, 3) == {261}
    assert matcher.accept(261)
    assert allowed(matcher, 2) == {258}
    assert allowed(matcher, 3) == {258, ord("x")}


# Free text


def test_free_text_before_a_trigger_or_to_the_end() -> None:
    """As under tool_choice auto: two readings of the same text, side by side."""
    words_only = Capture("text", Terminal(text_without(("<call>",))))
    call = Concat(
        (
            Capture("text", Terminal(text_until("<call>")), tail="<call>"),
            value(NUMBERS),
            text("</call>"),
        )
    )
    grammar = grammar_of(Choice((words_only, call)))
    for right in ("", "Hello <cal", 'a <call>{"n": 3}</call>'):
        assert matches(grammar, right), right
    for wrong in ("a <call>", "<call>{}</call> more", '<call>{"m": 3}</call>'):
        assert not matches(grammar, wrong), wrong
    begun = after(grammar, "some text <call")
    assert begun is not None
    assert b">" in spelled(begun)
    assert begun.accepting


# What is forced, counted and limited


def test_forced_bytes_through_rules() -> None:
    grammar = grammar_of(text("("), Ref("more"), text(")"), more=Choice((text("[]"), text("[)"))))
    assert bytes(grammar.matcher().forced_tokens()) == b"(["


def test_counted_repeats_of_rules_are_counted_not_copied() -> None:
    pair = Choice((text("a"), Concat((text("("), Ref("pair"), text(")")))))
    rules = Rules("start", {"start": Repeat(Ref("pair"), 1000, 3000), "pair": pair})
    grammar = compile_rules(rules, EVERY_BYTE)
    assert not matches(grammar, "(a)" * 999)
    assert matches(grammar, "a(a)" * 500)
    assert matches(grammar, "(a)" * 3000)
    assert not matches(grammar, "(a)" * 3001)
    assert grammar.min_tokens == 1000


def test_counts_of_what_may_be_empty() -> None:
    body = Choice((Concat(()), Concat((text("("), Ref("body"), text(")")))))
    grammar = compile_rules(Rules("s", {"s": Repeat(Ref("body"), 2, 4), "body": body}), EVERY_BYTE)
    assert [matches(grammar, "()" * count) for count in range(6)] == [True] * 5 + [False]


def test_recursion_on_the_right_does_not_pile_up() -> None:
    rules = Rules("list", {"list": Choice((Ref("item"), Concat((Ref("item"), Ref("list")))))})
    item = Choice((text("a"), Concat((text("("), Ref("list"), text(")")))))
    grammar = compile_rules(Rules("list", {**rules.rules, "item": item}), EVERY_BYTE)
    short, long = after(grammar, "aaa"), after(grammar, "aa(aaa)" * 50 + "aaa")
    assert short is not None
    assert long is not None
    assert repr(short).partition(" at ")[2] == repr(long).partition(" at ")[2]


def test_depth_does_not_make_contexts() -> None:
    """Nesting goes on the stack, so a text twice as deep needs no further item set."""
    inner = Choice((text("a"), Concat((text("("), Ref("e"), text(")")))))
    rules = {"e": Choice((Ref("t"), Concat((Ref("e"), text("+"), Ref("t"))))), "t": inner}
    grammar = compile_rules(Rules("e", rules), EVERY_BYTE)
    assert matches(grammar, "(a+(" * 5 + "a" + "))" * 5)
    known = len(grammar.recognizer.machine.contexts._contexts)  # pyright: ignore
    assert matches(grammar, "(a+(" * 100 + "a" + "))" * 100)
    assert len(grammar.recognizer.machine.contexts._contexts) == known  # pyright: ignore


NEVER = intersection(words(["ab"]), complement(words(["ab"])))


@pytest.mark.parametrize(
    "rules",
    [
        {"s": Ref("s")},
        {"s": Concat((text("a"), Ref("s")))},
        {"s": Choice(())},
        {"s": Terminal(NEVER)},
        {"s": Repeat(Ref("t"), 1), "t": Concat((Ref("s"), Ref("t")))},
        {"s": Repeat(text("a"), 2, 1)},
        {"s": value({"not": {}})},
    ],
)
def test_a_grammar_without_a_text_is_refused(rules: dict[str, Expression]) -> None:
    with pytest.raises(UnsatisfiableGrammarError, match="the rule 's' generates no text"):
        compile_rules(Rules("s", rules), EVERY_BYTE)


def test_what_generates_nothing_is_never_begun() -> None:
    dead = Concat((text("b"), Ref("dead")))
    rules = {
        "s": Choice((text("a"), Ref("dead"), Concat((text("c"), Terminal(NEVER))))),
        "dead": dead,
    }
    grammar = compile_rules(Rules("s", rules), EVERY_BYTE)
    assert spelled(grammar.matcher()) == {b"a"}


AMBIGUOUS = {
    "s": Choice(
        (
            Concat((Ref("s"), Ref("s"))),
            Concat((text("a"), Ref("s"), text("a"))),
            text("a"),
        )
    )
}


@pytest.mark.parametrize(
    ("limit", "rules"),
    [
        ("grammar_rules", {"s": Concat((Ref("t"), Ref("s"))), "t": Ref("s")}),
        (
            "grammar_nodes",
            {"s": Choice((text("a"), Concat((text("b"), Ref("s"), text("c")))))},
        ),
        ("items", AMBIGUOUS),
    ],
)
def test_limits_are_named(limit: str, rules: dict[str, Expression]) -> None:
    with pytest.raises(LimitError, match=limit):
        compile_rules(Rules("s", rules), EVERY_BYTE, limits=Limits(**{limit: 1}))


def test_contexts_are_limited() -> None:
    grammar = compile_rules(Rules("s", AMBIGUOUS), EVERY_BYTE, limits=Limits(contexts=20))
    with pytest.raises(LimitError, match="contexts"):
        after(grammar, "a" * 100)


def test_rules_that_double_each_other_are_not_written_out() -> None:
    rules: dict[str, Expression] = {"r0": Terminal(repeat(char("a"), 0, 1))}
    for at in range(1, 40):
        rules[f"r{at}"] = Concat((Ref(f"r{at - 1}"), Ref(f"r{at - 1}")))
    grammar = compile_rules(Rules("r39", rules), EVERY_BYTE)
    assert matches(grammar, "a" * 20)
