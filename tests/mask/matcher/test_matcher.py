"""One position in a grammar: moving, going back, forking, ending."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from maskwright import Grammar, Matcher, compile_grammar, compile_json_schema, compile_regex
from maskwright.errors import BudgetError, InputError
from tests.matching import EVERY_BYTE, after, allowed, position, spelled, vocabulary

EOS = EVERY_BYTE.eos[0]
OBJECT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return compile_json_schema(OBJECT, EVERY_BYTE, whitespace="compact")


def test_a_text_from_start_to_end(grammar: Grammar) -> None:
    matcher = grammar.matcher()
    for byte in b'{"name":"A","n":12}':
        assert not matcher.accepting
        assert not matcher.complete
        assert matcher.accept(byte)
    assert matcher.accepting
    assert matcher.complete
    assert not matcher.terminated
    assert allowed(matcher) == {EOS}
    assert matcher.accept(EOS)
    assert matcher.terminated
    assert allowed(matcher) == set()
    assert matcher.next_bytes() == b""
    assert matcher.forced_tokens() == []
    assert not matcher.accept(EOS)
    assert not matcher.accept(ord("x"))


def test_the_end_token_only_where_the_text_may_end() -> None:
    matcher = compile_regex("ab?", EVERY_BYTE).matcher()
    assert not matcher.accept(EOS)
    assert matcher.accept(ord("a"))
    assert matcher.accepting
    assert not matcher.complete, "b may follow"
    assert allowed(matcher) == {ord("b"), EOS}
    matcher.accept(EOS)
    matcher.rollback(1)
    assert not matcher.terminated
    assert matcher.accept(ord("b"))
    assert matcher.complete


@pytest.mark.parametrize("token", [ord("x"), EOS, EVERY_BYTE.size - 1])
def test_what_is_refused_changes_nothing(grammar: Grammar, token: int) -> None:
    matcher = after(grammar, '{"na')
    assert matcher is not None
    here, row, mask = position(matcher), matcher.row, allowed(matcher)
    assert matcher.accept(token) is False
    assert (position(matcher), matcher.row, allowed(matcher)) == (here, row, mask)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (-1, r"token -1 is not in the vocabulary, whose ids are 0 to 256"),
        (EVERY_BYTE.size, r"token 257 is not in the vocabulary"),
        (10**6, r"token 1000000 is not in the vocabulary"),
        (np.int64(-1), r"token -1 is not in the vocabulary"),
        ("7", r"token has to be a whole number, not '7'"),
        (float(ord("m")), r"token has to be a whole number, not 109\.0"),
        ([ord("m")], r"token has to be a whole number, not a list"),
        (None, r"token has to be a whole number, not None"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("bound", ["", "[max_tokens=9]"], ids=["plain", "counted"])
def test_what_is_no_token_is_an_error_that_changes_nothing(
    token: Any, reason: str, known: bool, bound: str
) -> None:
    grammar = compile_grammar(f"start: text\ntext{bound}: /[a-z]+/", vocabulary())
    matcher = grammar.matcher()
    assert matcher.accept(ord("n"))
    if known:  # then the token's position is looked up by its number
        assert matcher.accept(ord("m"))
        matcher.rollback(1)
    here, mask = position(matcher), allowed(matcher)
    with pytest.raises(InputError, match=reason) as raised:
        matcher.accept(token)
    assert raised.value.param == "token"
    assert (position(matcher), allowed(matcher)) == (here, mask)
    assert matcher.accept(ord("m"))


def test_a_token_out_of_range_is_an_error_after_the_end_too() -> None:
    matcher = compile_regex("a", EVERY_BYTE).matcher()
    assert matcher.accept(ord("a"))
    assert matcher.accept(EOS)
    with pytest.raises(InputError, match="not in the vocabulary"):
        matcher.accept(EVERY_BYTE.size)
    assert matcher.terminated


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.array, torch.tensor])
def test_tokens_may_be_numbers_of_other_libraries(grammar: Grammar, kind: Any) -> None:
    matcher, same = grammar.matcher(), grammar.matcher()
    for byte in b'{"name":"x"':
        assert matcher.accept(kind(byte))
        assert same.accept(byte)
    assert position(matcher) == position(same)
    assert matcher.events() == same.events()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_every_kind_are_accepted(grammar: Grammar, kind: Any) -> None:
    matcher = grammar.matcher()
    assert matcher.accept_bytes(kind(b'{"name":"x"}')) == 12
    assert matcher.complete
    assert matcher.events()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ('"', "data has to be bytes, not '\"': encode the text as UTF-8"),
        (7, "data has to be bytes, not 7"),
        (None, "data has to be bytes, not None"),
        (np.zeros(1, np.uint8), "data has to be bytes, not a ndarray"),
    ],
)
def test_what_is_no_bytes_is_an_error(grammar: Grammar, data: Any, reason: str) -> None:
    matcher = grammar.matcher()
    with pytest.raises(InputError, match=reason):
        matcher.accept_bytes(data)
    assert position(matcher) == position(grammar.matcher())


@pytest.mark.parametrize("count", ["1", 1.0, None])
def test_rolling_back_takes_a_whole_number(grammar: Grammar, count: Any) -> None:
    matcher = grammar.matcher()
    assert matcher.accept(ord("{"))
    with pytest.raises(InputError, match="count has to be a whole number"):
        matcher.rollback(count)
    matcher.rollback(np.int64(1))  # pyright: ignore[reportArgumentType]
    assert position(matcher) == position(grammar.matcher())


@pytest.mark.parametrize("budget", ["30", 30.0, [30]])
def test_a_budget_is_a_whole_number(grammar: Grammar, budget: Any) -> None:
    row = np.empty(EVERY_BYTE.words, np.int32)
    with pytest.raises(InputError, match="budget has to be a whole number"):
        grammar.matcher().fill_mask(row, budget)
    grammar.matcher().fill_mask(row, np.int64(30))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        (torch.zeros(9, dtype=torch.int32), r"torch\.int32 \(9,\); .* pass tensor\.numpy\(\)"),
        (torch.zeros(9), r"torch\.float32 \(9,\); .* pass tensor\.numpy\(\)"),
        (np.zeros((2, 9), np.int32), r"int32 \(2, 9\); pass one row at a time"),
        (np.zeros(9), r"not float64 \(9,\)$"),
        (np.zeros(8, np.int32), r"not int32 \(8,\)$"),
        ([0] * 9, r"not list: pass np\.empty\(9, np\.int32\)"),
        (None, r"not NoneType: pass np\.empty\(9, np\.int32\)"),
    ],
    ids=["torch", "torch floats", "two rows", "floats", "too short", "list", "none"],
)
def test_what_is_no_row_is_an_error_that_says_what_to_pass(
    grammar: Grammar, out: Any, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        grammar.matcher().fill_mask(out)


def test_a_tensor_shares_the_memory_of_the_row_that_is_passed(grammar: Grammar) -> None:
    row = torch.zeros(2, EVERY_BYTE.words, dtype=torch.int32)
    matcher = grammar.matcher()
    matcher.fill_mask(row[1].numpy())
    bits = np.unpackbits(row.numpy().view(np.uint8), axis=1, bitorder="little")
    assert np.argwhere(bits).tolist() == [[1, ord("{")]]


def test_rollback(grammar: Grammar) -> None:
    matcher = grammar.matcher()
    text = b'{"name":"x","n":-40}'
    places = [position(matcher)]
    for byte in text:
        assert matcher.accept(byte)
        places.append(position(matcher))
    for at in range(len(text), -1, -1):
        assert position(matcher) == places[at]
        if at:
            matcher.rollback(1)
    for count in (1, -1):
        with pytest.raises(ValueError, match="roll back"):
            matcher.rollback(count)
    matcher.rollback(0)
    assert matcher.accept(ord("{"))


def test_forks_are_independent(grammar: Grammar) -> None:
    matcher = after(grammar, '{"name":"')
    assert matcher is not None
    twin = matcher.copy()
    assert twin.accept(ord("x"))
    assert twin.accept(ord('"'))
    assert spelled(matcher) != spelled(twin)
    assert matcher.accept(ord('"'))
    assert matcher.accept(ord("}"))
    assert matcher.complete
    assert not twin.accepting
    ended = matcher.copy()
    assert ended.accept(EOS)
    assert ended.copy().terminated
    assert not matcher.terminated


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("bound", ["", "[max_tokens=4]"], ids=["plain", "counted"])
def test_copies_are_forks(duplicate: Callable[[Matcher], Matcher], bound: str) -> None:
    grammar = compile_grammar(f"start: text\ntext{bound}: /[a-e]*/", EVERY_BYTE)
    matcher = grammar.matcher()
    for letter in b"ab":
        assert matcher.accept(letter)
    twin = duplicate(matcher)
    assert type(twin) is type(matcher)
    assert position(twin) == position(matcher)
    for letter in b"cd":
        assert twin.accept(letter)
    assert twin.accept(ord("e")) is (not bound)
    for letter in b"ba":
        assert matcher.accept(letter), "each counts its own tokens"
    assert matcher.accept(ord("c")) is (not bound)
    twin.reset()
    assert twin.accept_bytes(b"abc") == 3
    matcher.rollback(2)
    assert matcher.accept(ord("c"))


def test_copies_of_what_holds_a_matcher_hold_a_fork(grammar: Grammar) -> None:
    kept: dict[str, Any] = {"matcher": grammar.matcher(), "grammar": grammar}
    twin = copy.deepcopy(kept)
    assert kept["matcher"].accept(ord("{"))
    assert position(twin["matcher"]) == position(grammar.matcher())
    assert twin["grammar"] is grammar
    assert twin["matcher"].recognizer is kept["matcher"].recognizer


def test_a_matcher_is_not_pickled(grammar: Grammar) -> None:
    with pytest.raises(TypeError, match="pickle its grammar and the tokens that were accepted"):
        pickle.dumps(grammar.matcher())


def test_reset(grammar: Grammar) -> None:
    matcher = grammar.matcher()
    start = position(matcher)
    for byte in b'{"name":""}':
        matcher.accept(byte)
    matcher.accept(EOS)
    matcher.reset()
    assert position(matcher) == start
    assert not matcher.terminated
    assert allowed(matcher) == {ord("{")}


def test_equal_masks_are_one_row() -> None:
    vocab = vocabulary()  # new, so that both grammars are in one generation of its tables
    first = compile_json_schema({"type": "string"}, vocab)
    second = compile_json_schema({"type": "array", "items": {"type": "string"}}, vocab)
    rows: dict[int, set[int]] = {}
    for grammar, texts in ((first, ['"', '"a', '"\\']), (second, ["[", '["', '["ab', '["a","'])):
        for text in texts:
            matcher = after(grammar, text)
            assert matcher is not None
            assert rows.setdefault(matcher.row, allowed(matcher)) == allowed(matcher)
    masks = {frozenset(mask) for mask in rows.values()}
    assert len(masks) == len(rows), "one mask has two rows"
    inside = after(first, '"')
    outside = after(second, '["a","')
    assert inside is not None
    assert outside is not None
    assert inside.row == outside.row


def test_tokens_with_equal_bytes() -> None:
    vocab = vocabulary("ab", "ab", alphabet="ab")
    matcher = compile_regex("(ab)+", vocab).matcher()
    assert allowed(matcher) == {0, 2, 3}
    assert matcher.accept(3)
    assert allowed(matcher) == {0, 2, 3, *vocab.eos}


def test_special_tokens_and_padding_are_never_allowed() -> None:
    vocab = vocabulary("<s>", "", "", alphabet="<s>")
    matcher = compile_regex("<s>|", vocab).matcher()
    assert spelled(matcher) == {b"<", b"<s>", b""}
    assert allowed(matcher) & {4, 5} == set()


def test_a_mask_overwrites_what_was_there(grammar: Grammar) -> None:
    out = np.full(EVERY_BYTE.words, -1, np.int32)
    grammar.matcher().fill_mask(out)
    assert int(out[ord("{") >> 5]) == np.int32(1 << (ord("{") & 31))
    assert np.count_nonzero(out) == 1


def test_accept_bytes_is_one_step(grammar: Grammar) -> None:
    matcher = grammar.matcher()
    assert matcher.accept_bytes(b'{"name":1') == len(b'{"name":')
    matcher.rollback(1)
    assert spelled(matcher) == {b"{"}
    assert matcher.accept_bytes(b"?") == 0
    with pytest.raises(ValueError, match="roll back"):
        matcher.rollback(1)


@pytest.mark.parametrize("budget", [-1, 0, 1, 10])
def test_a_budget_too_small(grammar: Grammar, budget: int) -> None:
    with pytest.raises(BudgetError, match="11") as raised:
        allowed(grammar.matcher(), budget)
    assert raised.value.needed == grammar.min_tokens == len('{"name":""}')


def test_a_budget_that_just_suffices_leaves_one_way(grammar: Grammar) -> None:
    matcher = grammar.matcher()
    text = b""
    while not matcher.accepting:
        (token,) = allowed(matcher, matcher.min_tokens)
        matcher.accept(token)
        text += bytes([token])
    assert text == b'{"name":""}'
    assert matcher.min_tokens == 0
    assert allowed(matcher, 1) == {EOS}


def test_a_large_budget_changes_nothing(grammar: Grammar) -> None:
    for text in ("", "{", '{"name', '{"name":"x', '{"name":"x"', '{"name":"x","n":1'):
        matcher = after(grammar, text)
        assert matcher is not None
        assert allowed(matcher, 10_000) == allowed(matcher)


def test_many_threads_over_one_grammar() -> None:
    schema = {"type": "array", "items": {"anyOf": [OBJECT, {"type": "string"}, {"$ref": "#"}]}}
    shared = compile_json_schema(schema, EVERY_BYTE)

    def generate(seed: int) -> str:
        random = Random(seed)
        matcher = shared.matcher()
        text = b""
        for left in range(60, 0, -1):
            token = random.choice(sorted(allowed(matcher, left)))
            assert matcher.accept(token)
            if matcher.terminated:
                break
            text += EVERY_BYTE.tokens[token]
        assert isinstance(json.loads(text), list)
        return repr(text)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(generate, range(24)))
    assert together == [generate(seed) for seed in range(24)]


def test_a_matcher_shows_where_it_stands(grammar: Grammar) -> None:
    matcher: Matcher = grammar.matcher()
    matcher.accept(ord("{"))
    assert repr(matcher).startswith("Matcher(1 tokens, at (")


@pytest.mark.parametrize(
    "out", [np.zeros(9, np.int64), np.zeros((1, 9), np.int32), np.zeros(8, np.int32)]
)
def test_an_array_that_does_not_fit_is_refused(out: np.ndarray) -> None:
    assert EVERY_BYTE.words == 9
    matcher = compile_json_schema(True, EVERY_BYTE).matcher()
    with pytest.raises(ValueError, match=r"int32 of shape \(9,\)"):
        matcher.fill_mask(out)


def test_a_new_mask_is_the_one_that_is_filled(grammar: Grammar) -> None:
    matcher = after(grammar, b'{"name":"A"')
    filled = np.empty(EVERY_BYTE.words, np.int32)
    for budget in (None, matcher.min_tokens, 30):
        matcher.fill_mask(filled, budget)
        mask = matcher.mask(budget)
        assert np.array_equal(mask, filled)
        mask[:] = 0
        assert np.array_equal(matcher.mask(budget), filled), "each call returns another array"


def test_a_question_about_a_grammar_of_this_process_is_answered_at_once(grammar: Grammar) -> None:
    """So that who follows a text need not ask where its grammar lives."""
    matcher, replies = after(grammar, b'{"name":'), list[Any]()
    before = matcher.state
    assert matcher.knows([ord('"')], 20, canonical=True)
    matcher.ask([ord('"')], 20, canonical=True, then=replies.append)
    (reply,) = replies
    reply()
    matcher.look_ahead()
    matcher.close()
    assert matcher.state == before
    assert matcher.accept(ord('"'))


def test_events_are_read_in_pieces(grammar: Grammar) -> None:
    text = b'{"name":"A","n":12}'
    whole = after(grammar, text).events(final=True)
    events = grammar.events()
    pieces = [events.read(list(text[:9]), final=False), events.read(list(text[9:]), final=True)]
    assert [event for piece in pieces for event in piece.result()] == whole
