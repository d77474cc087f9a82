"""What can be read at a place of a rule, and that nothing is offered which can't be completed."""

from __future__ import annotations

import pytest

from maskwright.automaton.rules.nodes import BoundedEnd, RuleCall
from maskwright.errors import UnsatisfiableGrammarError
from maskwright.grammar.rules.tree import Bounded, Capture, Expression, Ref, Repeat, SpecialToken
from tests.automaton.rules.networks import (
    EMPTY_TEXT,
    TOKEN,
    A,
    B,
    C,
    X,
    Y,
    along,
    alt,
    choices,
    network,
    opt,
    seq,
    text,
    value,
    word,
)

NOTHING = text("(?!)")
AB = Repeat(seq(A, B), 2, 3)
NESTED = Repeat(seq(A, Repeat(B, 2, 2)), 1, 2)


@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        (A, "", "a"),
        (A, "a", "."),
        (EMPTY_TEXT, "", "."),
        (seq(A, B), "a", "b"),
        (seq(A, opt(B)), "a", "b ."),
        (alt(A, seq(B, C)), "", "a b"),
        (alt(A, seq(B, C)), "b", "c"),
        (seq(opt(A), opt(B), C), "", "a b c"),
        (Repeat(A), "a a a", "a ."),
        (Repeat(A, 1), "", "a"),
        # A text that may be empty is read or skipped
        (seq(text("a*"), B), "", "'' b"),
        # Counted loops
        (AB, "", "a"),
        (AB, "a b", "a"),
        (AB, "a b a b", "a ."),
        (AB, "a b a b a b", "."),
        (Repeat(A, 2, None), "a a a a", "a ."),
        (NESTED, "a b", "b"),
        (NESTED, "a b b", "a ."),
        (NESTED, "a b b a b b", "."),
        (seq(Repeat(opt(A), 3, 4), B), "a a a a", "b"),
        (seq(Repeat(opt(A), 3, 4), B), "", "a b"),
        # Calls
        (seq(Ref("p"), C), "", "p"),
        (seq(Ref("p"), C), "p", "c"),
        (seq(Ref("maybe"), C), "", "c maybe"),
        # Captures and bounds on tokens are passed without reading
        (seq(Capture("c", opt(A)), B), "", "a b"),
        (seq(Bounded(A, 1, 0), B), "a", "b"),
        (alt(value(True), TOKEN), "", "token value"),
        # What can't be completed is not offered
        (alt(seq(A, NOTHING), seq(A, B), C), "", "a c"),
        (alt(seq(A, NOTHING), B), "", "b"),
        (alt(seq(A, Ref("endless")), B), "", "b"),
        (alt(Ref("endless"), B), "", "b"),
        (alt(Repeat(seq(A, NOTHING), 0, 5), B), "", "b ."),
        (alt(seq(A, Repeat(seq(B, NOTHING), 2, 3)), C), "", "c"),
        (alt(seq(Repeat(A, 2, 3), NOTHING), B), "", "b"),
        (alt(seq(Repeat(seq(A, Repeat(B, 2, 3)), 2, 3), NOTHING), C), "", "c"),
        (alt(A, Repeat(B, 3, 2)), "", "a"),
    ],
)
def test_choices_along_a_path(body: Expression, path: str, expected: str) -> None:
    rules = {"p": seq(X, Y), "maybe": opt(X), "endless": seq(X, Ref("endless"))}
    found = network({"start": body, **rules})
    assert choices(found, *along(found, "start", path)) == expected


@pytest.mark.parametrize(
    "rules",
    [
        {"start": NOTHING},
        {"start": alt()},
        {"start": Ref("start")},
        {"start": seq(A, Ref("start"))},
        {"start": seq(A, Ref("p")), "p": seq(B, Ref("q")), "q": seq(C, Ref("p"))},
        {"start": Repeat(A, 3, 2)},
        {"start": Repeat(alt(), 1, 2)},
    ],
)
def test_grammars_that_generate_nothing_are_refused(rules: dict[str, Expression]) -> None:
    with pytest.raises(UnsatisfiableGrammarError, match="'start' generates no text"):
        network(rules)


def test_values_without_instances_are_not_offered() -> None:
    rules = alt(value(True), A)
    assert choices(network(rules), network(rules).starts[0]) == "a value"
    never = network(rules, satisfiable=False)
    assert choices(never, never.starts[0]) == "a"


def test_a_dead_node_is_known_at_every_place() -> None:
    found = network(alt(seq(A, B, NOTHING), C))
    live = [found.is_live(at) for at in range(len(found.nodes))]
    assert live.count(False) == 3
    assert found.is_live(found.starts[0])


def test_an_upper_bound_is_kept_while_counting_without_one_stops_at_the_least() -> None:
    """So that loops without an upper bound are loops of the machine."""
    endless, bounded = network(Repeat(A, 2, None)), network(Repeat(A, 2, 9))
    counts = [along(endless, "start", "a " * n)[1] for n in range(1, 6)]
    assert counts == [(0,), (1,), (2,), (2,), (2,)]
    assert along(bounded, "start", "a " * 5)[1] == (4,)


@pytest.mark.parametrize(("path", "expected"), [("a", (2, 0)), ("a a", (2, 1)), ("a a a", (2, 2))])
def test_the_innermost_count(path: str, expected: tuple[int, int]) -> None:
    found = network(seq(Repeat(A, 2, 4), B))
    assert found.innermost_count(*along(found, "start", path)) == expected
    assert found.innermost_count(*along(found, "start", "a a b")) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (seq(Capture("c", A), B), {("a", "+c"): 1}),
        (seq(Capture("c", opt(A)), B), {("a", "+c"): 1, ("b", "+c -c"): 1}),
        (alt(Capture("c", A), A), {("a", "+c"): 1, ("a", ""): 1}),
        (Capture("o", Capture("i", A)), {("a", "+o +i"): 1}),
        # A round of the loop that reads nothing is not taken
        (seq(Repeat(Capture("c", opt(A))), B), {("a", "+c"): 1, ("b", "+c -c"): 1, ("b", ""): 1}),
        (opt(A), {("a", ""): 1, (".", ""): 1}),
        (seq(Bounded(text("a*"), 1, 0), B), {("''", ""): 1, ("b", ""): 1}),
    ],
)
def test_paths_and_the_captures_on_them(
    body: Expression, expected: dict[tuple[str, str], int]
) -> None:
    found = network(body)
    paths: dict[tuple[str, str], int] = {}
    for path in found.epsilon_paths(found.starts[0], ()):
        names = " ".join(("-" if one.ends else "+") + one.name for one in path.boundaries)
        if path.transition is None:
            key = (".", names)
        else:
            key = (word(found, path.transition.symbol), names)
        paths[key] = paths.get(key, 0) + 1
    assert paths == expected


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"start": seq(A, Ref("p")), "p": B}, {"start"}),
        ({"start": seq(Ref("p"), A), "p": B}, {"start", "p"}),
        ({"start": Ref("p"), "p": alt(seq(Ref("q"), A), B), "q": C}, {"start", "p", "q"}),
        ({"start": seq(opt(A), Ref("p")), "p": B}, {"start", "p"}),
        ({"start": seq(Ref("p"), Ref("q"), B), "p": opt(A), "q": C}, {"start", "p", "q"}),
        ({"start": seq(Ref("p"), Ref("q"), B), "p": A, "q": C}, {"start", "p"}),
        ({"start": alt(seq(Ref("start"), A), B)}, {"start"}),
    ],
)
def test_left_corners(rules: dict[str, Expression], expected: set[str]) -> None:
    found = network(rules)
    assert {found.names[rule] for rule in found.left_corners[found.start]} == expected


def test_what_a_grammar_contains() -> None:
    plain = network(seq(A, B))
    assert not plain.has_captures
    assert not plain.counts_tokens
    captured = network(Capture("c", A))
    assert captured.has_captures
    bounded = network(seq(Bounded(A, 4, 2), B))
    assert bounded.counts_tokens
    node, _ = along(bounded, "start", "a")
    end = bounded.bounded_end(node)
    assert isinstance(end, BoundedEnd)
    assert (end.tokens, end.tail) == (4, 2)
    assert bounded.bounded_end(bounded.starts[0]) is None


@pytest.mark.parametrize(
    ("body", "nullable"), [(A, False), (text("a*"), True), (TOKEN, False), (value(True), False)]
)
def test_symbols_that_read_the_empty_text(body: Expression, nullable: bool) -> None:
    found = network(seq(body, B))
    [first, *_] = found.closure(found.starts[0], ()).transitions
    assert found.is_nullable(first.symbol) is nullable


def test_calls_are_nullable_as_their_rules_are() -> None:
    found = network({"start": alt(Ref("empty"), Ref("some")), "empty": seq(), "some": A})
    by_name = {name: found.is_nullable(RuleCall(at)) for at, name in enumerate(found.names)}
    assert by_name == {"start": True, "empty": True, "some": False}
    assert found.has_text(SpecialToken(((1, 2),)))
