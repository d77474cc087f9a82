"""Masks, moves and budgets over vocabularies that lack bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskwright import Grammar, UnspellableError, compile_json_schema, compile_regex
from maskwright.mask.budget.verdicts import SpellableWalker
from maskwright.mask.position import Position
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walker import Walker
from tests.matching import EVERY_BYTE, configuration, vocabulary

VOCAB = vocabulary("xe", "ye", "yez", "xx", alphabet="xyz")
"""Spells e after x and y alone."""
DISTINCT: Any = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b"]}, "minItems": 2}


def at(grammar: Grammar, text: bytes) -> Position:
    return grammar.recognizer.position(configuration(grammar, text))


def mask(grammar: Grammar, text: bytes) -> set[bytes]:
    position = at(grammar, text)
    grammar.walker.find(position, lambda: text)
    bits = np.unpackbits(grammar.walker.tables.rows[position.row].view(np.uint8), bitorder="little")
    return {grammar.vocabulary.tokens[token] for token in np.flatnonzero(bits).tolist()} - {b""}


MASKS: list[tuple[str, bytes, set[bytes]]] = [
    # pattern, text so far, tokens from which the text can be spelled to its end
    ("xe|ye|z", b"", {b"xe", b"ye", b"z"}),  # not x and y: e is missing after them
    ("x(e|z)", b"", {b"x", b"xe"}),
    ("x(e|z)", b"x", {b"z"}),
    ("ye?z", b"", {b"y", b"ye", b"yez"}),
    ("(xx|ye)*", b"", {b"x", b"xx", b"ye"}),
    ("xxxe|y", b"", {b"x", b"xx", b"y"}),
    ("xxxe|y", b"x", {b"x"}),
    ("xxxe|y", b"xx", {b"xe"}),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), MASKS)
def test_masks(pattern: str, text: bytes, expected: set[bytes]) -> None:
    assert mask(compile_regex(pattern, VOCAB), text) == expected


@pytest.mark.parametrize(("pattern", "text", "expected"), MASKS)
def test_moves_are_those_of_the_mask(pattern: str, text: bytes, expected: set[bytes]) -> None:
    grammar = compile_regex(pattern, VOCAB)
    position = at(grammar, text)
    moved: set[bytes] = set()
    for token, data in enumerate(VOCAB.tokens[:-1]):
        following = grammar.walker.after(position, token, lambda: text)
        assert position.moved(token) is following
        if following is not None:
            assert following.configuration == configuration(grammar, text + data)
            moved.add(data)
    assert moved == expected


def test_a_mask_without_tokens_is_an_error_that_names_the_place() -> None:
    grammar = compile_regex("xe|ye", VOCAB)
    with pytest.raises(UnspellableError, match="nothing fits"):
        mask(grammar, b"x")
    assert at(grammar, b"x").row < 0


def test_the_measured_budget_is_beyond_every_bound() -> None:
    grammar = compile_regex("x(e|z)", VOCAB)
    position = at(grammar, b"")
    grammar.walker.measure(position, bytes)
    assert position.row >= 0
    assert position.sufficient_budget == 1 + ENDLESS


def test_moves_that_depend_on_the_text_are_not_remembered() -> None:
    free = {**DISTINCT, "items": {"type": "string"}}
    vocab = vocabulary('"a"', alphabet='[],"ab')
    grammar = compile_json_schema(free, vocab, whitespace="compact")
    text = b'["a'
    position = at(grammar, text)
    ended = grammar.walker.after(position, vocab.tokens.index(b'"'), lambda: text)
    assert ended is not None
    assert ended.configuration == configuration(grammar, text + b'"')
    assert position.moved(vocab.tokens.index(b'"')) is None


@pytest.mark.parametrize(("vocab", "kind"), [(EVERY_BYTE, Walker), (VOCAB, SpellableWalker)])
def test_it_is_used_only_where_bytes_are_missing(vocab: Any, kind: type[Walker]) -> None:
    assert type(compile_regex("x", vocab).walker) is kind
