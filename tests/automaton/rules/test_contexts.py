"""Item sets as contexts: accepted and rejected texts, the exits that lead there, values, tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from maskwright import compile_grammar
from maskwright.automaton.leaf.keys import PartsEnded, ValueBegan
from maskwright.automaton.leaf.special_tokens import spelling
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Bound, Ending
from maskwright.automaton.machine.exits import DONE, POP, PUSH, STAY
from maskwright.automaton.rules.contexts import (
    ItemSetContext,
    ReturnFrame,
    RuleContexts,
    RuleLabel,
    RulesEnded,
    ValueContext,
)
from maskwright.automaton.rules.values import RuleValues
from maskwright.errors import LimitError, UnsupportedGrammarError
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Expression,
    Ref,
    SpecialToken,
    Terminal,
)
from maskwright.limits import DEFAULT_LIMITS, Limits
from tests.automaton.rules.networks import TOKEN, A, B, C, X, alt, network, opt, seq, text, value
from tests.matching import EVERY_BYTE, after, matches

NEST = {"start": seq(Ref("e"), X), "e": alt(seq(A, Ref("e"), B), C)}


LEAVES = LeafTable()
"""As grammars over one vocabulary share theirs."""


def contexts(
    rules: Mapping[str, Expression] | Expression, limits: Limits = DEFAULT_LIMITS
) -> RuleContexts:
    return RuleContexts(network(rules, limits), RuleValues(LEAVES, limits), LEAVES, limits)


def over(*terminals: Terminal) -> PartsEnded:
    return PartsEnded(tuple(terminal.language for terminal in terminals))


CASES: list[tuple[str, str, str, str]] = [
    # rules; texts; prefixes that are no texts; what is not even a prefix
    ('start: "a" "b"?', "a ab", "", "b aa abb"),
    ('start: e "x"\ne: "(" e ")" | "c"', "cx (c)x ((c))x", "( (( (c ((c)", "x () (cx c)"),
    ('start: e\ne: e "+" t | t\nt: "n" | "(" e ")"', "n n+n (n+n)+n", "n+ (n (n+", "+ nn n+) ()"),
    ('start: s\ns: s s | "a" | "b" "c"', "a aa abca bc", "b ab", "c bb ac"),
    ('start: l*\nl: /[a-z]+/ ";"', "a; ab;c; ab;", "a ab a;b", "; a;; 1"),
    ('start: ("a" | "b" "b")~2..3 "c"', "aac bbac aaac abbac", "a bb aaa bba", "ac aaaa c bac"),
    ('start: p p\np: "a"?', "a aa", "", "b aaa"),
    ('start: /[a-z]+/ | "if" "(" ")"', "if a if()", "if(", "if) a( 1"),
    ('start: "<" %json {"type": "integer"} ">"', "<1> <-20>", "< <- <1", "<> <a <1<"),
    ('start: %json {"const": [1]} | "x"', "[1] x", "[ [1", "1 xx {"),
]


@pytest.mark.parametrize(("rules", "texts", "prefixes", "rejected"), CASES)
def test_texts_of_rules(rules: str, texts: str, prefixes: str, rejected: str) -> None:
    rules = rules.replace("\\\n", "\n").replace("{2,3}", "~2..3")
    grammar = compile_grammar(rules, EVERY_BYTE, dialect="lark")
    for prefix in prefixes.split():
        assert after(grammar, prefix) is not None, prefix
        assert not matches(grammar, prefix), prefix
    assert [text for text in rejected.split() if after(grammar, text) is not None] == []


def test_the_first_context_may_end_only_if_the_text_may_be_empty() -> None:
    for body, may_end in ((A, False), (opt(A), True)):
        made = contexts(body)
        context, leaf = made.start()
        here = made.context(context)
        assert isinstance(here, ItemSetContext)
        assert here.may_end is may_end
        assert (LEAVES.label_of(leaf) is RuleLabel.COMPLETE) is may_end
    assert contexts(seq()).start()[0] == DONE


def test_an_exit_stays_where_the_rule_goes_on() -> None:
    made = contexts(seq(A, B))
    found = made.exit(made.start()[0], over(A))
    assert found.kind == STAY
    assert set(LEAVES.next_states(found.leaf)) == {ord("b")}
    last = made.exit(found.context, over(B))
    assert (last.kind, last.context) == (STAY, DONE)


def test_a_called_rule_is_pushed_and_popped_as_a_result() -> None:
    made = contexts(NEST)
    inner = made.exit(made.start()[0], over(A))
    assert inner.kind == PUSH
    assert isinstance(made.context(inner.frame), ReturnFrame)
    waits = made.exit(inner.context, over(C))
    ended = made.exit(waits.context, over(B))
    assert ended.kind == POP
    assert isinstance(ended.result, RulesEnded)
    assert {made.network.names[rule] for rule in ended.result.rules} == {"e"}
    goes_on = made.exit(inner.frame, ended.result)
    assert set(LEAVES.next_states(goes_on.leaf)) == {ord("x")}


def test_contexts_do_not_depend_on_how_deep_they_are_nested() -> None:
    made = contexts(NEST)
    first = made.exit(made.start()[0], over(A))
    second = made.exit(first.context, over(A))
    third = made.exit(second.context, over(A))
    assert (second.context, second.frame) == (third.context, third.frame)


def test_leaves_wait_for_the_next_byte_only_without_captures() -> None:
    """With captures, that a text has ended has to show at once."""
    name = text("[a-z]+")
    end = text(";")
    for body, at_once in ((seq(name, end), False), (seq(Capture("c", name), end), True)):
        made = contexts(body)
        _, leaf = made.start()
        state = LEAVES.next_states(leaf)[ord("q")]
        LEAVES.build(state)
        assert bool(LEAVES.rows.eager[state]) is at_once


# JSON values


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (alt(value({"type": "integer"}), A), None),
        (alt(value({"type": "integer"}), text("[0-9]")), "text"),
        (alt(value({"type": "integer"}), text("-x")), "text"),
        (alt(value({"type": "string"}), value({"type": "integer"})), None),
        (alt(value(True), value({"type": "integer"})), None),
        (
            alt(value(True, whitespace="compact"), value(True, whitespace="spaced")),
            "value with other options",
        ),
        (seq(opt(text("t")), value({"type": "boolean"})), "text"),
        (seq(text("t"), value({"type": "boolean"})), None),
    ],
)
def test_values_are_distinguished_by_their_first_byte(
    body: Expression, refused: str | None
) -> None:
    made = contexts(body)
    if refused is None:
        made.check_values()
    else:
        with pytest.raises(UnsupportedGrammarError, match=refused):
            made.check_values()


def test_a_value_is_read_above_the_frame_that_waits_for_it() -> None:
    made = contexts(seq(value({"type": "integer"}), X))
    began = made.exit(made.start()[0], ValueBegan(b"1"))
    assert began.kind == PUSH
    assert isinstance(made.context(began.context), ValueContext)
    assert isinstance(made.context(began.frame), ReturnFrame)
    assert made.level(began.context) is not None
    assert made.level(began.frame) is None
    assert made.gate(began.frame) is None


# Bounds on tokens


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        (A, None),
        (seq(A, Bounded(B, 3, 0)), None),
        (seq(Bounded(A, 3, 0), B), 3),
        (alt(Bounded(A, 3, 0), Bounded(B, 2, 0)), 2),
        (alt(Bounded(A, 3, 0), B), 3),
    ],
)
def test_the_least_bound_of_the_texts_that_are_read(body: Expression, limit: int | None) -> None:
    made = contexts(body)
    assert made.token_limit(made.start()[0]) == limit


LETTERS = text("[ab]*;")
"""With a tail of one character, which ends it."""


@pytest.mark.parametrize(("tokens", "expected"), [(2, ";ab"), (3, ";"), (4, ";")])
def test_a_text_that_has_had_its_tokens_can_only_be_ended(tokens: int, expected: str) -> None:
    made = contexts(seq(Bounded(LETTERS, 3, 1), X))
    context, leaf = made.start()
    found = made.exit_at_token_limit(context, leaf, tokens)
    assert found is not None
    assert set(LEAVES.next_states(found.leaf)) == set(expected.encode())


def test_other_texts_go_on_when_one_has_had_its_tokens() -> None:
    made = contexts(alt(Bounded(LETTERS, 3, 1), seq(text("c+"), X)))
    context, leaf = made.start()
    found = made.exit_at_token_limit(context, leaf, 3)
    assert found is not None
    assert set(LEAVES.next_states(found.leaf)) == set(b";c")


def test_a_special_token_counts_as_one_of_the_tokens() -> None:
    made = contexts(alt(Bounded(TOKEN, 3, 0), seq(A, B)))
    context, leaf = made.start()
    [lead] = spelling(7)[:1]
    for tokens, allowed in ((2, {lead, ord("a")}), (3, {ord("a")})):
        found = made.exit_at_token_limit(context, leaf, tokens)
        assert found is not None
        assert set(LEAVES.next_states(found.leaf)) == allowed


def test_within_a_character_no_text_is_closed() -> None:
    made = contexts(seq(Bounded(text("é*;"), 3, 1), X))
    context, leaf = made.start()
    within = LEAVES.next_states(leaf)["é".encode()[0]]
    assert made.exit_at_token_limit(context, within, 3) is None


# Completions


def test_completing_a_stack_of_contexts() -> None:
    made = contexts(NEST)
    inner = made.exit(made.start()[0], over(A))
    assert made.finish([DONE], 0, b"") == Ending(b"")
    assert made.finish([inner.context, inner.frame], inner.leaf, b"a") == Ending(b"cbx")
    assert made.bound(inner.context) == Bound(3, 3), "after an a: cbb"
    assert made.bound(inner.frame) == Bound(1, 1), "x"
    assert made.bound(DONE) == Bound(0, 0)


def test_too_many_ways_are_refused() -> None:
    options = [seq(Terminal(letter.language), SpecialToken(((7, 7),))) for letter in (A, B, C)]
    few = replace(DEFAULT_LIMITS, items=2)
    made = contexts(alt(*options), few)
    with pytest.raises(LimitError, match="items"):
        made.start()
