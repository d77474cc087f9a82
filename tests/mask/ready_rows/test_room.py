"""The room that each token needs: against all strings of a pattern, counted and weighed."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from maskwright.automaton.leaf.character_arrays import Characters
from maskwright.automaton.leaf.spelling import BETWEEN
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.beginnings import least_weight
from maskwright.grammar.regular.character_dfa import NEVER, CharacterDfa
from maskwright.grammar.regular.charset import of
from maskwright.grammar.regular.derivative import split
from maskwright.grammar.regular.terms import Scale
from maskwright.mask.ready_rows.inside import TOO_MUCH, Measure, walk_room
from maskwright.mask.ready_rows.tokens import Subtrees
from maskwright.vocab.trie import Trie

LETTERS = "abé."
TOKENS = ["".join(each) for size in (1, 2, 3) for each in product(LETTERS, repeat=size)]
STRINGS = ["".join(each) for size in range(8) for each in product(LETTERS, repeat=size)]
SCALE = Scale(most=6, beyond=3, between=of("."))


def needs(pattern: str, tokens: list[bytes], scale: Scale | None = None) -> dict[bytes, int]:
    """The room of each token that stays inside a string of `pattern`."""
    automaton = CharacterDfa(full_match(pattern), split)
    automaton.explore(1_000)
    measure = Measure(automaton.fewest(0)[:1], 0, NEVER - 1)
    if scale is not None:
        least = np.array([[least_weight(each, scale) for each in automaton.terms]], np.int32)
        measure = Measure(least, 0, scale.most, 0, scale.beyond, np.array([0x2E], np.int32))
    subtrees = Subtrees(Trie.build(tokens), np.ones(len(tokens), np.bool_))
    found = np.full(len(tokens), TOO_MUCH, np.int16)
    missing = np.full(4, -1, np.int32)
    lacking = walk_room(
        *(subtrees, Characters(automaton).update(), measure),
        *(0, BETWEEN, 0, found, missing, False),
    )
    assert lacking == 0
    return {token: int(need) for token, need in zip(tokens, found, strict=True) if need < TOO_MUCH}


@pytest.mark.parametrize(
    "pattern", ["[ab]*", "(ab)*a?", "a*b", "[abé]{0,6}", "(a|bé.){0,2}", "aéa?"]
)
def test_lengths(pattern: str) -> None:
    """A token needs as many characters as the shortest string that it begins."""
    matching = [text for text in STRINGS if re.fullmatch(pattern.replace(".", r"\."), text)]
    expected = {
        token.encode(): min(len(text) for text in matching if text.startswith(token))
        for token in TOKENS
        if any(text.startswith(token) for text in matching)
    }
    found = needs(pattern.replace(".", r"\."), [token.encode() for token in TOKENS])
    assert found == expected


def weight(part: str) -> int:
    return sum(SCALE.beyond if letter == "é" else 1 for letter in part)


@pytest.mark.parametrize("pattern", [r"[abé]+(\.[abé]+)*", r"[ab]*(\.(éa|b))*", r"(\.?[aé]b)*"])
def test_weights(pattern: str) -> None:
    """A token needs what the first part of a string weighs that it begins, if the other parts
    weigh no more than they may."""
    expected: dict[bytes, int] = {}
    for text in STRINGS:
        first, *others = text.split(".")
        heavy = any(weight(part) > SCALE.most for part in others) or weight(first) > SCALE.most
        if heavy or not re.fullmatch(pattern, text):
            continue
        for token in TOKENS:
            if text.startswith(token):
                known = expected.get(token.encode(), TOO_MUCH)
                expected[token.encode()] = min(known, weight(first))
    assert needs(pattern, [token.encode() for token in TOKENS], SCALE) == expected


def test_characters_that_are_only_begun() -> None:
    """A byte that begins `é` needs room for it; one that may begin a dot beyond ASCII only what
    came before it."""
    found = needs("[aé]*", [b"a\xc3", b"\xc3", b"\xc2", b"\\u00", b"\\u00e", b"a\\", b"\\u01"])
    assert found == {b"a\xc3": 2, b"\xc3": 1, b"\\u00": 1, b"\\u00e": 1, b"a\\": 2}
    assert needs("[aé]+([.][a])*", [b"a\\", b"a\xc3"], SCALE) == {b"a\\": 1, b"a\xc3": 4}


def test_states_without_transitions_are_listed_once() -> None:
    automaton = CharacterDfa(full_match("a(b|c)x"), split)
    automaton.explore(1)
    subtrees = Subtrees(Trie.build([b"a", b"ab", b"ac", b"abx"]), np.ones(4, np.bool_))
    found, missing = np.full(4, TOO_MUCH, np.int16), np.full(3, -1, np.int32)
    measure = Measure(np.zeros((1, 8), np.int32), 0, NEVER - 1)
    lacking = walk_room(
        *(subtrees, Characters(automaton).update(), measure),
        *(0, BETWEEN, 0, found, missing, False),
    )
    assert lacking == 2, "after a, once for each of b and c"
    assert missing.tolist() == [1, -1, -1]
