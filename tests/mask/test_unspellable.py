"""Vocabularies that lack bytes: nothing is offered from where no tokens lead to an end."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest

from maskwright import (
    UnspellableError,
    Vocabulary,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
)
from tests.matching import EVERY_BYTE, allowed, spelled, vocabulary

JSON = '{}[]",:\\u0123456789abcdef.-trulsn '


def alone(*tokens: str) -> Vocabulary:
    """These tokens and an end token."""
    return Vocabulary([*(token.encode() for token in tokens), b""], eos=len(tokens))


def offered(strings: list[bytes], tokens: tuple[bytes, ...], before: bytes) -> set[bytes]:
    """The mask, naively: what goes on with a string whose rest can be spelled; b"" ends it."""

    @cache
    def spellable(rest: bytes) -> bool:
        return not rest or any(
            rest.startswith(token) and spellable(rest[len(token) :]) for token in tokens if token
        )

    found: set[bytes] = set()
    for string in strings:
        if string.startswith(before):
            rest = string[len(before) :]
            found |= {
                token
                for token in tokens
                if token and rest.startswith(token) and spellable(rest[len(token) :])
            }
            if not rest:
                found.add(b"")
    return found


@pytest.mark.parametrize("seed", range(150))
def test_masks_are_what_can_be_spelled(seed: int) -> None:
    random = Random(seed)
    letters = "abé"

    def some(most: int) -> str:
        return "".join(random.choice(letters) for _ in range(random.randint(1, most)))

    vocab = Vocabulary(
        [*(some(3).encode() for _ in range(6)), *random.sample([b"a", b"\xc3", b"\xa9"], 2), b""],
        eos=8,
    )
    strings = list(dict.fromkeys(some(6) for _ in range(8)))
    data = [string.encode() for string in strings]
    if not offered(data, vocab.tokens, b""):
        with pytest.raises(UnspellableError, match="nothing fits at"):
            compile_choice(strings, vocab)
        return
    matcher = compile_choice(strings, vocab).matcher()
    before = b""
    while not matcher.terminated:
        expected = offered(data, vocab.tokens, before)
        assert expected
        assert spelled(matcher) == expected
        budget = matcher.min_tokens + 1
        assert spelled(matcher, budget) <= expected
        for token in range(vocab.size):
            ahead = matcher.copy()
            assert ahead.accept(token) == (token in allowed(matcher))
        ahead = matcher.copy()
        for token in matcher.forced_tokens():
            assert token in allowed(ahead)
            assert ahead.accept(token)
        token = random.choice(sorted(allowed(matcher)))
        assert matcher.accept(token)
        before += vocab.tokens[token]


@pytest.mark.parametrize(
    ("pattern", "vocab", "first"),
    [
        ("yes|no", alone("yes", "no"), {b"yes", b"no"}),
        ("ye[sz]", alone("yes", "yez", "y"), {b"yes", b"yez"}),
        ("é|ab?", vocabulary("ab", alphabet="a"), {b"a", b"ab"}),
        ("aab|c", vocabulary("aab", "a", alphabet="c"), {b"aab", b"c"}),
        ("(ab)*c?", alone("abc", "ab", "a"), {b"", b"ab", b"abc"}),
        ("a*é", vocabulary("aé", alphabet="a"), {b"a", b"a\xc3\xa9"}),
    ],
)
def test_a_way_is_found_where_the_shortest_text_has_none(
    pattern: str, vocab: Vocabulary, first: set[bytes]
) -> None:
    matcher = compile_regex(pattern, vocab).matcher()
    assert spelled(matcher) == first
    assert matcher.forced_tokens() == []


@pytest.mark.parametrize("escapes", ["any", "needed"])
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"enum": ["é", "né", "ab"]},
        {"type": "string", "pattern": "^[aé]{2,3}$"},
        {"type": "object", "properties": {"é": {"type": "null"}, "b": {"type": "integer"}}},
        {"type": "array", "items": {"enum": ["a", 1, "é"]}, "uniqueItems": True},
        {"type": "array", "items": {"multipleOf": 0.5, "maximum": 900}, "minItems": 1},
    ],
    ids=json.dumps,
)
def test_json_without_bytes_beyond_ascii(schema: Any, escapes: Any) -> None:
    vocab = vocabulary('"a', "né", '":', 'é"', b"\xc3", alphabet=JSON)
    grammar = compile_json_schema(schema, vocab, escapes=escapes)
    for seed in range(4):
        random = Random(seed)
        matcher = grammar.matcher()
        while not matcher.complete and len(matcher._steps) < 12:
            options = sorted(allowed(matcher))
            assert options
            ahead = matcher.copy()
            for token in range(vocab.size):
                assert ahead.accept(token) == (token in options)
                ahead.rollback(token in options)
            token = random.choice(options)
            assert matcher.accept(token)
            if matcher.terminated:
                break
        while not matcher.accepting and not matcher.terminated:
            assert matcher.accept(min(allowed(matcher, matcher.min_tokens)))


def test_what_can_not_be_spelled_at_all_is_refused_when_it_is_compiled() -> None:
    vocab = vocabulary(alphabet=JSON)
    with pytest.raises(UnspellableError, match="nothing fits at 'é'"):
        compile_regex("a*é", vocab)
    with pytest.raises(UnspellableError, match="nothing fits at 'é'"):
        compile_json_schema({"const": "é"}, vocab, escapes="needed")
    with pytest.raises(UnspellableError, match="nothing fits at '<'"):
        compile_grammar('start: "<" /[a-f]+/', vocab)
    with pytest.raises(UnspellableError, match=r"nothing fits at '\{'"):
        compile_json_schema({"type": "object"}, vocabulary(alphabet='"[]}'))
    assert compile_json_schema({"const": "é"}, vocab).min_tokens == len('"\\u00e9"')


def test_where_only_bytes_lead_there_is_an_error_and_no_empty_mask() -> None:
    matcher = compile_regex("ab|c", vocabulary("ab", alphabet="c")).matcher()
    assert matcher.accept_bytes(b"a") == 1
    with pytest.raises(UnspellableError, match="nothing fits at 'b'"):
        allowed(matcher)


def test_bytes_that_utf_8_has_not_need_no_tokens() -> None:
    unused = {0xC0, 0xC1, *range(0xF5, 0x100)}
    tokens = [bytes([byte]) for byte in range(256) if byte not in unused]
    vocab = Vocabulary([*tokens, b""], eos=len(tokens))
    matcher = compile_json_schema({"type": "string"}, vocab).matcher()
    full = compile_json_schema({"type": "string"}, EVERY_BYTE).matcher()
    assert matcher.recognizer.tables.parts.has_every_byte
    for text in ("", '"', '"a'):
        assert matcher.accept_bytes(text.encode()) == full.accept_bytes(text.encode())
        assert spelled(matcher) == spelled(full)
        matcher.reset()
        full.reset()
