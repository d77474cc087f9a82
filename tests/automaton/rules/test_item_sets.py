"""Item sets: what follows when symbols end, return addresses and frames, and what is dominated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maskwright.automaton.rules.item_sets import (
    BELOW,
    NO_ITEMS,
    OUTERMOST,
    Item,
    ItemSets,
    ReturnAddress,
    RulePosition,
    Successors,
)
from maskwright.automaton.rules.nodes import RULE_END, Symbol, TextSymbol
from maskwright.errors import LimitError
from maskwright.grammar.rules.tree import Capture, Expression, Ref, Repeat
from maskwright.limits import DEFAULT_LIMITS
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
    word,
    words,
)

PARENTHESES = {"start": seq(Ref("e"), X), "e": alt(seq(A, Ref("e"), B), C)}
LEFT = {"start": seq(Ref("l"), X), "l": alt(seq(Ref("l"), A), A)}
RIGHT = {"start": seq(Ref("l"), X), "l": alt(seq(A, Ref("l")), B)}
EMPTY_RULE = {"start": seq(Ref("e"), Ref("e"), X), "e": opt(A)}


def by_symbol(sets: ItemSets, kernel: int) -> dict[Symbol, list[Item]]:
    """The items of each symbol that can be read, not called."""
    found = sets.closure(kernel)
    by_text = {TextSymbol(term): items for term, items in found.texts.items()}
    return {**by_text, **found.values, **found.tokens}


def after(sets: ItemSets, path: str, kernel: int | None = None) -> Successors:
    """Where the symbols of `path` lead from a kernel, or from the first one."""
    if kernel is None:
        found = sets.begin(sets.start_position())
    else:
        found = sets.advance([], [*sets.items_of(kernel)])
    for name in path.split():
        read = [
            item
            for symbol, items in by_symbol(sets, found.kernel).items()
            if word(sets.network, symbol) == name
            for item in items
        ]
        assert read, f"{name} can't be read here"
        found = sets.advance(read, [])
    return found


def callers(sets: ItemSets, kernel: int) -> set[int]:
    """The kernels to which the items of a kernel return."""
    return {item.after.return_to.kernel for item in sets.items_of(kernel)}


def choices(sets: ItemSets, found: Successors) -> str:
    """The symbols that can be read, and `.` if the text may end."""
    names = words(sets.network, by_symbol(sets, found.kernel))
    return f"{names} ." if found.may_end and names else "." if found.may_end else names


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ({"start": seq(A, B)}, "", "a"),
        ({"start": seq(A, B)}, "a", "b"),
        ({"start": seq(A, B)}, "a b", "."),
        ({"start": seq(A, opt(B))}, "a", "b ."),
        ({"start": alt(seq(A, B), seq(A, C))}, "a", "b c"),
        ({"start": alt(value(True), TOKEN)}, "", "token value"),
        # Recursion in the middle, on the left and on the right
        (PARENTHESES, "", "a c"),
        (PARENTHESES, "a a c", "b"),
        (PARENTHESES, "a a c b", "b"),
        (PARENTHESES, "a a c b b", "x"),
        (LEFT, "a a a", "a x"),
        (RIGHT, "a a a", "a b"),
        (RIGHT, "a a b", "x"),
        # Rules that may be empty
        (EMPTY_RULE, "", "a x"),
        (EMPTY_RULE, "a", "a x"),
        (EMPTY_RULE, "a a", "x"),
        ({"start": Ref("p"), "p": alt(Ref("start"), A)}, "a", "."),
        # Ambiguity
        ({"start": Ref("e"), "e": alt(seq(Ref("e"), A, Ref("e")), B)}, "b a b", "a ."),
    ],
)
def test_what_follows_a_path(rules: dict[str, Expression], path: str, expected: str) -> None:
    sets = item_sets(rules)
    assert choices(sets, after(sets, path)) == expected


@pytest.mark.parametrize(
    ("rules", "shorter", "longer"),
    [
        (LEFT, "a a", "a a a a"),
        (RIGHT, "a a", "a a a a"),
        ({"start": Repeat(seq(A, Ref("p"))), "p": seq(B, opt(C))}, "a b", "a b a b a b"),
        ({"start": Repeat(A, 2, None)}, "a a", "a a a a"),
    ],
)
def test_equal_pasts_are_one_kernel(
    rules: dict[str, Expression], shorter: str, longer: str
) -> None:
    """So a loop of the grammar is a cycle of kernels; right recursion piles up no addresses."""
    sets = item_sets(rules)
    short, long = after(sets, shorter), after(sets, longer)
    assert (short.kernel, short.may_end) == (long.kernel, long.may_end)


def test_nesting_is_kept_in_return_addresses() -> None:
    sets = item_sets(PARENTHESES)
    assert after(sets, "a c").kernel != after(sets, "a a c").kernel


def test_a_tail_call_returns_where_its_caller_does() -> None:
    """But with captures, which are followed along the items of the start rule."""
    plain = item_sets({"start": seq(A, Ref("p")), "p": seq(B, C)})
    assert callers(plain, after(plain, "a b").kernel) == {OUTERMOST}
    captured = item_sets({"start": seq(Capture("c", A), Ref("p")), "p": seq(B, C)})
    [caller] = callers(captured, after(captured, "a b").kernel)
    assert caller not in (OUTERMOST, BELOW)


def test_a_tail_call_returns_where_callers_of_callers_do() -> None:
    """Also where rules call each other in a circle, and from two callers of one address."""
    rules = {
        "start": seq(A, Ref("p")),
        "p": alt(Ref("q"), Ref("r"), seq(B, C)),
        "q": alt(Ref("p"), seq(C, C)),
        "r": seq(C, B),
    }
    sets = item_sets(rules)
    assert callers(sets, after(sets, "a c").kernel) == {OUTERMOST}
    rules["start"] = seq(A, alt(Ref("p"), seq(Ref("q"), X)))
    sets = item_sets(rules)
    found = after(sets, "a c")
    assert OUTERMOST not in callers(sets, found.kernel)
    assert choices(sets, found) == "b c"
    assert choices(sets, after(sets, "a c c")) == "x ."
    assert choices(sets, after(sets, "a c b")) == "x ."


def test_a_rule_called_for_two_purposes_returns_to_both() -> None:
    sets = item_sets({"start": alt(seq(Ref("p"), X), seq(Ref("p"), Y)), "p": seq(A, B)})
    [caller] = callers(sets, after(sets, "a").kernel)
    assert choices(sets, after(sets, "a b")) == "x y"
    assert len(sets.items_of(caller)) == 2


# Frames


def test_a_frame_is_split_off_where_all_items_return_to_one_kernel() -> None:
    sets = item_sets(PARENTHESES)
    within = after(sets, "a").kernel
    split = sets.split_frame(within)
    assert split is not None
    kernel, frame = split
    assert callers(sets, kernel) == {BELOW}
    assert sets.resolved(kernel, frame) == within
    assert sets.split_frame(kernel) is None, "it is symbolic already"
    assert sets.split_frame(first_kernel(sets)) is None, "it returns to the outermost"


def test_no_frame_is_split_off_two_kernels() -> None:
    sets = item_sets({"start": alt(seq(Ref("p"), X), seq(A, Ref("q"), Y)), "p": A, "q": B})
    frames = (first_kernel(sets), after(sets, "a").kernel)
    ends = [sets.position(RULE_END, (), sets.address(0, frame)) for frame in frames]
    both = sets.kernel(sets.item(TextSymbol(A.language), end) for end in ends)
    assert callers(sets, both) == set(frames)
    assert sets.split_frame(both) is None


def test_without_its_frame_a_kernel_does_not_depend_on_its_depth() -> None:
    sets = item_sets(PARENTHESES)
    [first, second] = (sets.split_frame(after(sets, path).kernel) for path in ("a a", "a a a"))
    assert first is not None
    assert second is not None
    assert first[0] == second[0]
    assert first[1] != second[1]


def test_rules_that_end_below_are_results() -> None:
    sets = item_sets(PARENTHESES)
    split = sets.split_frame(after(sets, "a").kernel)
    assert split is not None
    within = after(sets, "c", split[0])
    assert choices(sets, within) == "b"
    assert within.ended == frozenset()
    ended = after(sets, "c b", split[0])
    assert {sets.network.names[rule] for rule in ended.ended} == {"e"}
    assert ended.kernel == NO_ITEMS
    assert not ended.may_end


def test_resolving_reaches_the_callers_of_callers() -> None:
    """Kernels to which a kernel returns may themselves return to `BELOW`."""
    sets = item_sets(PARENTHESES)
    split = sets.split_frame(after(sets, "a").kernel)
    assert split is not None
    kernel, frame = split
    resolved = sets.resolved(after(sets, "a", kernel).kernel, frame)
    assert resolved == after(sets, "a a").kernel


# Dominated items


@pytest.mark.parametrize(
    ("body", "path", "counts"),
    [
        # Once both may end, the lower count can do all that the higher one can
        (Repeat(text("a|aa"), 1, 5), "a", {(1,)}),
        (Repeat(alt(A, seq(A, A)), 1, 5), "a a", {(1,)}),
        # Before that, each count is a different text
        (Repeat(alt(A, seq(A, A)), 4, 5), "a a a", {(1,), (2,), (3,)}),
    ],
)
def test_a_higher_count_is_dominated(
    body: Expression, path: str, counts: set[tuple[int, ...]]
) -> None:
    sets = item_sets(body)
    items = sets.items_of(after(sets, path).kernel)
    assert {item.after.counters for item in items} == counts


# Limits


def test_kernels_and_closures_are_bounded() -> None:
    wide = alt(*(seq(text(letter), text(letter + "1")) for letter in "abcdef"))
    few = replace(DEFAULT_LIMITS, items=5)
    with pytest.raises(LimitError, match="items"):
        first_kernel(item_sets(wide, few))
    called = {"start": Ref("p"), "p": wide}
    sets = item_sets(called, few)
    number = first_kernel(sets)
    with pytest.raises(LimitError, match="items"):
        sets.closure(number)


def test_what_is_made_twice_is_the_same() -> None:
    sets = item_sets(PARENTHESES)
    number = first_kernel(sets)
    assert first_kernel(sets) == number
    items = sets.items_of(number)
    assert sets.kernel([*items, *reversed(items)]) == number
    assert sets.closure(number) is sets.closure(number)
    [item] = items
    position, address = item.after, item.after.return_to
    assert sets.address(address.rule, address.kernel) is address
    assert sets.position(position.node, position.counters, address) is position
    assert sets.item(item.symbol, position) is item


def test_other_numbers_and_items_are_refused() -> None:
    sets, others = item_sets(PARENTHESES), item_sets(LEFT)
    for number in (-1, 1 << 20):
        for ask in (sets.closure, sets.items_of, sets.rules_of, sets.split_frame):
            with pytest.raises(IndexError, match="kernel"):
                ask(number)
        with pytest.raises(IndexError, match="kernel"):
            sets.resolved(first_kernel(sets), number)
        with pytest.raises(IndexError, match="kernel"):
            sets.address(0, number)
        with pytest.raises(IndexError, match="rule"):
            sets.address(number, OUTERMOST)
        with pytest.raises(IndexError, match="node"):
            sets.position(number, (), sets.address(0, OUTERMOST))
    foreign = [*others.items_of(first_kernel(others))]
    for refused in (
        lambda: sets.advance(foreign, []),
        lambda: sets.advance([], foreign),
        lambda: sets.kernel(foreign),
        lambda: sets.begin(others.start_position()),
        lambda: sets.item(TextSymbol(A.language), others.start_position()),
        lambda: sets.position(0, (), others.address(1, OUTERMOST)),
        lambda: sets.position(0, (), ReturnAddress()),
        lambda: sets.item(TextSymbol(A.language), RulePosition()),
        lambda: sets.kernel([Item()]),
    ):
        with pytest.raises(ValueError, match="of other item sets"):
            refused()
