"""Forced tokens: the tokenizer's own cut of what must come, and no more than is certain."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from benchmarks.vocabularies import tekken
from maskwright import compile_json_schema, compile_regex
from maskwright.mask.matcher.protocol import NOTHING_FORCED, ForcedRun
from tests.matching import EVERY_BYTE, after, allowed, vocabulary

OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"const": "xyz"}, "bb": {"type": "boolean"}},
    "required": ["a", "bb"],
    "additionalProperties": False,
}


def forced(schema: Any, behind: str = "", **options: Any) -> bytes:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact", **options)
    matcher = after(grammar, behind)
    assert matcher is not None
    return bytes(matcher.forced_tokens())


def test_bytes() -> None:
    assert forced(OBJECT, escapes="any") == b'{"', "a may be \\u0061"
    assert forced(OBJECT, escapes="needed") == b'{"a":"xyz","bb":'
    assert forced(OBJECT, '{"a":"x', escapes="needed") == b'yz","bb":'
    assert forced(OBJECT, '{"a":"x', escapes="any") == b"", "y may be \\u0079"
    assert forced({"const": True}) == b"true"
    assert forced({"type": "boolean"}) == b""
    assert forced({"type": "boolean"}, "t") == b"rue"
    assert forced({"const": 1}) == b"1", "and then it may end, or go on as 1.0"
    assert forced({"type": "null"}, "null") == b"", "nothing may follow"


def test_not_past_where_the_text_may_end() -> None:
    matcher = compile_regex("ab(c)?", EVERY_BYTE).matcher()
    assert matcher.forced_tokens() == [ord("a"), ord("b")]
    for token in matcher.forced_tokens():
        matcher.accept(token)
    assert matcher.forced_tokens() == []


def test_a_run_is_written_where_the_rest_completes_the_text() -> None:
    run = ForcedRun((1, 2), complete=False, needs=3, whole=False, shared=True)
    assert [run.within(left) for left in (1, 4, 5, 6)] == [(), (), (1, 2), (1, 2)]
    last = run._replace(complete=True, needs=0)
    assert [last.within(left) for left in (1, 2, 3)] == [(), (1, 2), (1, 2)]
    assert NOTHING_FORCED.within(9) == ()


def test_what_a_longer_token_may_swallow_is_left_out() -> None:
    vocab = vocabulary("abc", "bx", alphabet="abcxyz")
    ids = {token: at for at, token in enumerate(vocab.tokens)}
    assert compile_regex("ab[xc]", vocab).matcher().forced_tokens() == []
    assert compile_regex("ya[xc]", vocab).matcher().forced_tokens() == [ids[b"y"]]
    assert compile_regex("yabc[xc]", vocab).matcher().forced_tokens() == [ids[b"y"], ids[b"abc"]]


@pytest.mark.parametrize("whitespace", ["compact", "spaced"])
def test_they_are_the_tokenizers_own_cut(whitespace: str) -> None:
    """A text that takes every forced token is cut as the vocabulary cuts the whole of it."""
    schema = {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in ("identifier", "is_active", "x")},
        "required": ["identifier", "is_active", "x"],
        "additionalProperties": False,
    }
    vocab = vocabulary("is", "_a", "iden", "tifier", '":', '":t', "true", ',"', "e,", ': "')
    grammar = compile_json_schema(schema, vocab, whitespace=whitespace)
    value = {"identifier": True, "is_active": False, "x": True}
    separators = (",", ":") if whitespace == "compact" else (", ", ": ")
    data = json.dumps(value, separators=separators).encode()
    canonical = vocab.encode(data)
    matcher = grammar.matcher()
    for at, token in enumerate(canonical):
        found = matcher.forced_tokens()
        assert found == canonical[at : at + len(found)]
        assert matcher.accept(token)
    assert matcher.complete


def test_forced_tokens_are_allowed_in_a_real_vocabulary() -> None:
    vocab = tekken()
    matcher = compile_json_schema(OBJECT, vocab, whitespace="compact").matcher()
    random = Random(1)
    taken = 0
    while not matcher.complete:
        for token in matcher.forced_tokens():
            assert token in allowed(matcher)
            assert matcher.accept(token)
            taken += 1
        if not matcher.complete:
            assert matcher.accept(random.choice(sorted(allowed(matcher, matcher.min_tokens))))
    assert taken > 0
