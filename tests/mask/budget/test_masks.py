"""Masks under a budget, remembered and forgotten."""

from itertools import count
from random import Random
from typing import Any

import pytest

from maskwright import (
    Grammar,
    Limits,
    Vocabulary,
    compile_grammar,
    compile_json_schema,
    compile_regex,
)
from maskwright.errors import BudgetError, LimitError
from maskwright.mask.budget.masks import BudgetMasks
from maskwright.mask.budget.token_costs import MOST_FOLLOWED
from maskwright.mask.position import Position
from maskwright.mask.shared import budget_cache
from tests.matching import BYTES, EVERY_BYTE, after, allowed, matches, vocabulary

WORDS = {"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 1}


def new(*, unique: bool) -> Grammar:
    """One that knows nothing of others: no others have its limits."""
    limits = Limits(work=next(_works))
    schema = WORDS | {"uniqueItems": unique}
    return compile_json_schema(schema, EVERY_BYTE, whitespace="compact", limits=limits)


_works = count(700_000)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("most", [budget_cache.MOST_ROW_BYTES, 8 * EVERY_BYTE.words * 4])
def test_what_is_remembered_is_what_would_be_found(
    unique: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that end where the budget does; again and again, against grammars that know nothing.
    Where items must differ, the text decides, and nothing is remembered."""
    monkeypatch.setattr(budget_cache, "MOST_ROW_BYTES", most)
    grammar, random = new(unique=unique), Random(1)
    cut = 0
    for number in range(8):
        matcher, left = grammar.matcher(), 12
        fresh = new(unique=unique).matcher()
        while not matcher.complete:
            mask = allowed(matcher, budget=left)
            assert mask == allowed(fresh, budget=left), f"text {number}, {left} left"
            cut += mask != allowed(fresh)
            token = random.choice(sorted(mask & set(b'[]",ab')))
            assert matcher.accept(token)
            assert fresh.accept(token)
            left -= 1
            assert grammar.budgets.size <= most
    assert cut > 10
    assert (grammar.budgets.size > 0) is not unique


@pytest.mark.parametrize("text", [b'{"color": "#f"', b'{"color": "#f", "outer": 0.8'])
def test_masks_do_not_depend_on_what_was_compiled_before(text: bytes) -> None:
    """That decides how states are numbered, and so the order of groups of tokens."""
    names = ('"color', '"outer', "out", "er", "uter", 'ter"', "ou")
    signs = (' "', '": ', ',"', '":', '" ', '": "', " 0", '", "', '"}', "0}", ", ", " ,")
    schema = {"properties": {"color": {"type": "string"}, "outer": {"type": "number"}}}
    masks: list[list[set[int]]] = []
    for before in (b"", b'{"a": '):
        vocab = vocabulary(*signs, *names)
        if before:
            other = compiled({"properties": {"a": {"type": "integer"}}}, vocab).matcher()
            assert other.accept_bytes(before) == len(before)
            allowed(other, budget=8)
        matcher = compiled(schema, vocab).matcher()
        assert matcher.accept_bytes(text) == len(text)
        masks.append([allowed(matcher, budget=left) for left in range(3, 12)])
    assert masks[0] == masks[1]
    assert len(set(map(len, masks[0]))) > 2


def compiled(schema: dict[str, Any], vocab: Vocabulary) -> Grammar:
    return compile_json_schema({"type": "object", **schema}, vocab, property_order="schema")


def test_a_budget_that_is_just_enough_suffices_beside_remembered_masks() -> None:
    """A token that ends a name and begins its value has an upper bound that exceeds the budget,
    but it may be the only one with which the budget is enough."""
    schema = {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "minProperties": 3,
    }
    vocab = vocabulary(',"b":', '":0,"b":0')
    grammar = compile_json_schema(schema, vocab)
    for begun in (b'{"a":8', b'{"c":80', b'{"b":8'):
        matcher = grammar.matcher()
        assert matcher.accept_bytes(begun) == len(begun)
        left = matcher.min_tokens
        while not matcher.complete:
            mask = allowed(matcher, budget=left)
            assert matcher.accept(min(mask)), begun
            left -= 1
        assert left >= 0


def test_a_way_that_was_counted_for_one_text_is_there_for_others() -> None:
    """Which names come next is decided by the text as soon as a name has begun. Found from there
    on, names are others, and take more tokens, than those that were counted before it began."""
    schema = {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 4}
    vocab = vocabulary('","', 'b":"', 'c":"')
    grammar = compile_json_schema(schema, vocab, whitespace="compact")
    for begun in (b'{"q":"', b'{"q":"x', b'{"q":"xy'):
        matcher = grammar.matcher()
        assert matcher.accept_bytes(begun) == len(begun)
        left = matcher.min_tokens
        assert left == 11
        while not matcher.complete:
            mask = allowed(matcher, budget=left)
            assert matcher.accept(min(mask)), begun
            left -= 1
        assert left == 0


@pytest.mark.parametrize(
    "names", [{"pattern": "^[ab]{1,2}$"}, {"enum": ["a", "b", "aa", "bb"]}], ids=["pattern", "enum"]
)
@pytest.mark.parametrize("least", [0, 1, 2])
def test_names_that_are_used_up_make_a_further_member_longer(
    names: dict[str, Any], least: int
) -> None:
    """What was found after other names holds only for texts that haven't read the shorter names."""
    schema = {
        "type": "object",
        "propertyNames": names,
        "minProperties": least,
        "additionalProperties": {"const": 1},
    }
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    for begun, further in (
        (b'{"aa":1,"bb":1', b',"a":1}'),
        (b'{"a":1,"bb":1', b',"b":1}'),
        (b'{"b":1,"a":1', b',"aa":1}'),
        (b'{"a":1,"b":1,"bb":1', b',"aa":1}'),
        (b'{"a":1,"\\u0062":1', b',"aa":1}'),
    ):
        matcher = grammar.matcher()
        assert matcher.accept_bytes(begun) == len(begun)
        for left in range(1, len(further) + 3):
            assert (ord(",") in allowed(matcher, budget=left)) == (left >= len(further)), begun
            for token in allowed(matcher, budget=left) - set(EVERY_BYTE.eos):
                assert matcher.accept(token)
                assert matcher.complete or allowed(matcher, budget=left - 1), (begun, left, token)
                matcher.rollback(1)


BEYOND_ASCII = [
    {"properties": {"ä": {"const": 1}, "a": {"const": 1}}, "additionalProperties": False},
    {"properties": {"ä": {"const": 1}, "öö": {"const": 1}}, "required": ["öö"]},
    {"enum": [{"日": 1}, {"a": 1}]},
    {"propertyNames": {"enum": ["ä", "ö", "aa"]}, "additionalProperties": {"const": 1}},
    {"propertyNames": {"pattern": "^[äa]{1,2}$"}, "additionalProperties": {"const": 1}},
]


@pytest.mark.parametrize("schema", BEYOND_ASCII, ids=str)
def test_masks_within_budgets_know_names_beyond_ascii(schema: dict[str, Any]) -> None:
    """Also in the middle of a character or of an escape, and after other names: each token that is
    allowed leaves a way to the end, and each text that fits is allowed."""
    grammar = compile_json_schema({"type": "object", **schema}, EVERY_BYTE, whitespace="compact")
    texts = ['{"ä":1}', '{"a":1}', '{"öö":1}', '{"日":1}', '{"ö":1,"ä":1,"aa":1}', '{"ä":1,"aa":1}']
    texts += [r'{"\u00e4":1}', r'{"\u65e5":1}', r'{"a":1,"\u00e4":1}', '{"ä":1,"öö":1}']
    read = [text.encode() for text in texts if matches(grammar, text)]
    assert len(read) >= 2
    for text in read:
        for slack in (0, 1, 4, 30):
            matcher = grammar.matcher()
            for at, byte in enumerate(text):
                left = len(text) - at + slack
                mask = allowed(matcher, budget=left) - set(EVERY_BYTE.eos)
                assert byte in mask, (text, at, left)
                for token in mask:
                    assert matcher.accept(token)
                    assert matcher.complete or allowed(matcher, budget=left - 1), (text, at, token)
                    matcher.rollback(1)
                assert matcher.accept(byte)


@pytest.mark.parametrize(
    ("text", "needed"),
    [("", 8), ("{", 7), ('{"é', 5), ('{"é":1', 2), ('{"é":1,', 7), ('{"é":1}', 1)],
)
def test_masks_within_budgets_of_an_open_object_before_a_special_token(
    text: str, needed: int
) -> None:
    """How special tokens are spelled within completions is no UTF-8."""
    tokens = Vocabulary((*BYTES, b"<end>", b""), special=(256,), eos=257)
    source = 'start: %json {"type": "object", "minProperties": 1} <end>'
    matcher = after(compile_grammar(source, tokens), text)
    assert matcher is not None
    assert matcher.min_tokens == needed
    just_enough = allowed(matcher, budget=needed)
    assert just_enough
    assert just_enough <= allowed(matcher)


def test_masks_within_budgets_build_few_states_of_a_long_completion() -> None:
    """Sixty thousand characters away, the end is counted: it isn't read character by character."""
    vocab = vocabulary("xx", "xxxx", "xxxxxxxx")
    one, two, four, eight = (vocab.tokens.index(b"x" * length) for length in (1, 2, 4, 8))
    grammar = compile_regex("((x{1,60000}){60000}){0,60000}", vocab)
    leaves, ends = grammar.recognizer.tables.leaves.keys, set(vocab.eos)
    before = len(leaves)
    more = {7_500: {eight}, 7_501: {eight, four}, 7_502: {eight, four, two}}
    more[7_503] = more[7_502] | {one}
    for budget in (1, 50, 7_499, *more):
        assert allowed(grammar.matcher(), budget=budget) - ends == more.get(budget, set())
    matcher = grammar.matcher()
    for left in range(7_500, 7_200, -1):
        assert allowed(matcher, budget=left) - ends == {eight}
        assert matcher.accept(eight)
    assert len(leaves) - before < 300 * len(b"x" * 8) + 2_000


TOO_LONG: Any = {"type": "array", "minItems": 30_000}
ENDLESS_TEXT: Any = {"type": "string", "minLength": 10_000_000}
WORD: Any = {"type": "string"}


def _parts(value: Any) -> dict[str, Any]:
    """Schemas that allow texts without the value, by the place of the value."""
    pair = {"k": {"const": 1}, "v": value}
    closed = {"type": "object", "additionalProperties": False}
    return {
        "a property": {**closed, "properties": {"a": value, "ab": WORD}},
        "other names": {**closed, "properties": {"b": WORD}, "additionalProperties": value},
        "an item": {"type": "array", "items": {"anyOf": [value, {"type": "null"}]}},
        "all items": {"type": "array", "items": value},
        "an option": {"anyOf": [{"type": "boolean"}, value]},
        "a level below": {
            **closed,
            "properties": {"o": {**closed, "properties": {"p": value, "q": WORD}}},
            "required": ["o"],
        },
        "a constant": {"oneOf": [{"properties": pair, "required": ["k", "v"]}, {"const": [2]}]},
    }


@pytest.mark.parametrize("place", _parts(True))
@pytest.mark.parametrize("value", [TOO_LONG, ENDLESS_TEXT], ids=["array", "string"])
def test_what_is_too_long_for_any_budget_is_not_offered_within_one(place: str, value: Any) -> None:
    """Masks are as if nothing satisfied it. Without a budget it is offered."""
    fits: list[Grammar] = [
        compile_json_schema(_parts(each)[place], EVERY_BYTE, whitespace="compact", escapes="needed")
        for each in (value, False)
    ]
    assert fits[0].min_tokens == fits[1].min_tokens
    widest = 0
    for seed in range(15):
        random, left = Random(seed), fits[1].min_tokens + (0, 2, 30)[seed % 3]
        matchers = [grammar.matcher() for grammar in fits]
        while not matchers[1].complete:
            mask = allowed(matchers[1], budget=left)
            assert allowed(matchers[0], budget=left) == mask, (seed, left)
            widest = max(widest, len(allowed(matchers[0]) - allowed(matchers[1])))
            token = random.choice(sorted(mask & set(b'{}[]":,abkopqv12tfn')) or sorted(mask))
            assert all(matcher.accept(token) for matcher in matchers)
            if token in EVERY_BYTE.eos:
                break
            left -= 1
        assert left >= 0
    assert widest > 0


def test_what_is_too_long_and_must_come_is_a_limit() -> None:
    schema = {"properties": {"a": TOO_LONG}, "required": ["a"]}
    grammar = compile_json_schema({"type": "object", **schema}, EVERY_BYTE)
    with pytest.raises(LimitError, match="20,000 items, in the schema at /properties/a"):
        _ = grammar.min_tokens
    with pytest.raises(LimitError, match="20,000 items, in the schema at /properties/a"):
        allowed(grammar.matcher(), budget=50)
    assert allowed(grammar.matcher()) >= {ord("{")}


def test_a_string_in_a_long_text_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although more bytes have to follow it than are followed at once."""
    names = [f"a long name of a member, {number}" for number in range(20)]
    schema = {"properties": dict.fromkeys(["text", *names], WORD), "required": names}
    grammar = compile_json_schema({"type": "object", **schema}, EVERY_BYTE)
    assert grammar.min_tokens > MOST_FOLLOWED
    searches: list[int] = []
    search = BudgetMasks._refuse_too_long

    def counted(masks: BudgetMasks, position: Position, budget: int, *rest: Any) -> None:
        searches.append(budget)
        search(masks, position, budget, *rest)

    monkeypatch.setattr(BudgetMasks, "_refuse_too_long", counted)
    matcher = grammar.matcher()
    matcher.accept_bytes(b'{"text": "')
    for left in range(grammar.min_tokens + 300, matcher.min_tokens + 1, -1):
        assert allowed(matcher, budget=left) >= {ord("x"), ord('"')}
        assert matcher.accept(ord("x"))
    assert allowed(matcher, budget=matcher.min_tokens) == {ord('"')}
    assert searches == []


@pytest.mark.parametrize("most", [1_000, 10**9, 1e300])
@pytest.mark.parametrize(("begun", "rest"), [(b'"', 2), (b'"]', 2), (b'"\xc2', 3), (b'"b\\', 3)])
def test_a_large_bound_on_length_is_no_end_of_a_pattern(
    most: float, begun: bytes, rest: int
) -> None:
    grammar = compile_json_schema({"pattern": "a", "maxLength": most}, EVERY_BYTE)
    matcher = grammar.matcher()
    assert matcher.accept_bytes(begun) == len(begun)
    assert matcher.min_tokens == rest
    assert allowed(matcher, budget=rest)
    with pytest.raises(BudgetError):
        allowed(matcher, budget=rest - 1)


RUNS = [
    "[a-z]*12",
    "[a-z]*X12345",
    "[^,]*,",
    "( [a-z]+)+!1",
    "[^<]*</t>So",
    "[ab]*12",
    "a[^b]{0,3}bc",
]


@pytest.mark.parametrize("pattern", RUNS)
@pytest.mark.parametrize("remembered", [True, False])
def test_masks_within_budgets_in_runs_of_characters(
    pattern: str, remembered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token is allowed if and only if the text can be completed after it, whatever the budget;
    if there is none, the budget is refused."""
    if not remembered:
        monkeypatch.setattr(BudgetMasks, "_masks_by_budget", lambda *_: None)
    limits = Limits(work=next(_works))
    matcher = compile_regex(pattern, EVERY_BYTE, limits=limits).matcher()
    for _ in range(4):
        needs: dict[int, int] = {}
        for token in allowed(matcher) - {EVERY_BYTE.size - 1}:
            twin = matcher.copy()
            assert twin.accept(token)
            needs[token] = twin.min_tokens
        for budget in range(1, 2 + max(needs.values(), default=0)):
            expected = {token for token, need in needs.items() if need < budget}
            if matcher.accepting:
                expected.add(EVERY_BYTE.size - 1)
            if expected:
                assert allowed(matcher, budget) == expected
            else:
                with pytest.raises(BudgetError):
                    allowed(matcher, budget)
        token = max(needs, key=lambda each: (needs[each], each in b"abz ", -each))
        assert matcher.accept(token)
