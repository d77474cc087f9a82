"""Shortest completions of item sets: within a rule, over return addresses, and from values."""

from __future__ import annotations

import pytest

from maskwright.automaton.leaf.special_tokens import spelling
from maskwright.automaton.rules.completion import RuleCompletion
from maskwright.automaton.rules.item_sets import NO_ITEMS, ItemSets
from maskwright.errors import LimitError
from maskwright.grammar.rules.tree import Bounded, Capture, Expression, JsonValue, Ref, Repeat
from maskwright.limits import DEFAULT_LIMITS, Limits
from tests.automaton.rules.networks import (
    TOKEN,
    A,
    B,
    C,
    X,
    Y,
    alt,
    first_kernel,
    item_sets,
    opt,
    seq,
    text,
    value,
    values,
)
from tests.automaton.rules.test_item_sets import after

LONG, DEAD = text("a{9}"), text("(?!)")


def complete(sets: ItemSets, kernel: int, frames: tuple[int, ...] = ()) -> bytes | None:
    return RuleCompletion(sets, values(), DEFAULT_LIMITS).of_kernel(kernel, frames)


LONG_FIRST = alt(LONG, seq(opt(A), opt(A), B), Ref("start"))


@pytest.mark.parametrize("count", [10**6, 10**30])
def test_a_count_of_any_size_is_refused_at_the_rule_that_has_it(count: int) -> None:
    nest, many = alt(B, seq(X, Ref("nest"), Y)), seq(A, Repeat(Ref("nest"), count), B)
    sets = item_sets({"start": alt(A, seq(C, Ref("many"))), "many": many, "nest": nest})
    with pytest.raises(LimitError, match="of the rule 'many' has more than 200,000") as caught:
        complete(sets, first_kernel(sets))
    assert "ask for fewer repeats" in caught.value.message


def test_what_is_short_in_the_end_is_not_refused_for_a_longer_text_met_before() -> None:
    sets = item_sets({"start": Repeat(LONG_FIRST, 10)})
    completion = RuleCompletion(sets, values(), Limits(witness_search=30))
    assert completion.of_kernel(first_kernel(sets), ()) == b"b" * 10


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (A, "a"),
        (seq(A, B, C), "abc"),
        (alt(LONG, seq(B, C)), "bc"),
        (seq(opt(A), B), "b"),
        (seq(A, Repeat(B), C), "ac"),
        (seq(A, Repeat(B, 1), C), "abc"),
        (Repeat(seq(A, B), 3, 5), "ababab"),
        (Repeat(alt(LONG, B), 2, None), "bb"),
        (seq(Repeat(A, 0, 5), B), "b"),
        (seq(Repeat(seq(A, Repeat(B, 2, 3)), 2, 3), C), "abbabbc"),
        (seq(Repeat(opt(A), 2, 3), B), "b"),
        (text("é+x?"), "é"),
        (Capture("c", seq(A, B)), "ab"),
        (seq(Bounded(A, 1, 0), B), "ab"),
        (alt(seq(A, DEAD), LONG), "a" * 9),
        (alt(seq(Ref("start"), B), seq(A, A)), "aa"),
        (seq(alt(Ref("start"), X), Y), "xy"),
        (seq(A, value({"const": [1, 2]})), "a[1,2]"),
    ],
)
def test_the_shortest_text_of_a_rule(body: Expression, expected: str) -> None:
    sets = item_sets(body)
    assert complete(sets, first_kernel(sets)) == expected.encode()


def test_a_special_token_is_completed_by_its_spelling() -> None:
    sets = item_sets(seq(A, TOKEN))
    assert complete(sets, first_kernel(sets)) == b"a" + spelling(7)


NEST = {"start": seq(Ref("e"), X), "e": alt(seq(A, Ref("e"), B), C)}


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        (NEST, "", "cx"),
        (NEST, "a", "cbx"),
        (NEST, "a a", "cbbx"),
        (NEST, "a a c", "bbx"),
        (NEST, "a a c b", "bx"),
        # Of two callers the one with the shorter rest, however the rule itself is read
        ({"start": alt(seq(Ref("p"), LONG), seq(Ref("p"), X)), "p": seq(A, B)}, "a", "bx"),
        ({"start": alt(seq(Ref("p"), LONG), seq(B, X)), "p": A}, "", "bx"),
        # Copies that a loop still requires, the inner one first
        (Repeat(seq(A, Repeat(B, 2, 3), C), 2, 3), "a b", "bcabbc"),
        (Repeat(seq(A, Repeat(B, 2, 3), C), 2, 3), "a b b", "cabbc"),
        (Repeat(seq(A, Repeat(B, 2, 3), C), 2, 3), "a b b c a b b", "c"),
        (seq(Repeat(A, 2, 5), B), "a a a", "b"),
    ],
)
def test_completions_along_a_path(
    rules: dict[str, Expression] | Expression, path: str, expected: str
) -> None:
    sets = item_sets(rules)
    assert complete(sets, after(sets, path).kernel) == expected.encode()


def test_frames_are_popped_one_by_one() -> None:
    sets = item_sets(NEST)
    inner = sets.split_frame(after(sets, "a").kernel)
    assert inner is not None
    kernel, frame = inner
    deeper = sets.split_frame(after(sets, "a", kernel).kernel)
    assert deeper is not None
    assert complete(sets, kernel, (frame,)) == b"cbx"
    assert complete(sets, deeper[0], (deeper[1], frame)) == b"cbbx"
    assert complete(sets, NO_ITEMS, (frame,)) is None


def test_from_within_a_value_the_shortest_way_of_any_value_counts() -> None:
    one, two = value({"type": "integer"}), value({"type": "number"})
    sets = item_sets(alt(seq(one, LONG), seq(two, X)))
    frame = first_kernel(sets)
    found = RuleCompletion(sets, values(), DEFAULT_LIMITS)

    def completed(endings: dict[int, bytes], order: list[JsonValue]) -> bytes | None:
        return found.of_value(endings, order, [frame])

    assert completed({0: b"", 1: b"0"}, [one, two]) == b"0x"
    assert completed({0: b""}, [one, two]) == b"a" * 9
    assert completed({}, [one, two]) is None
