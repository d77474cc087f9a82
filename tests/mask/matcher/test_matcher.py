"""One position in a grammar: moving, going back, forking, ending."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from maskwright import Grammar, Matcher, compile_json_schema, compile_regex
from maskwright.errors import BudgetError
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


@pytest.mark.parametrize("token", [-1, EVERY_BYTE.size, EVERY_BYTE.size + 7, ord("x"), EOS])
def test_what_is_refused_changes_nothing(grammar: Grammar, token: int) -> None:
    matcher = after(grammar, '{"na')
    assert matcher is not None
    here, row, mask = position(matcher), matcher.row, allowed(matcher)
    assert matcher.accept(token) is False
    assert (position(matcher), matcher.row, allowed(matcher)) == (here, row, mask)


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
    twin = matcher.fork()
    assert twin.accept(ord("x"))
    assert twin.accept(ord('"'))
    assert spelled(matcher) != spelled(twin)
    assert matcher.accept(ord('"'))
    assert matcher.accept(ord("}"))
    assert matcher.complete
    assert not twin.accepting
    ended = matcher.fork()
    assert ended.accept(EOS)
    assert ended.fork().terminated
    assert not matcher.terminated


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
