"""Which tokens stay inside a string that is one of a list: the judge spells out every word."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from maskwright.automaton.leaf.spelling import (
    ANY_BYTES,
    BACKSLASH,
    BETWEEN,
    DIGITS,
    PAIR,
    PAIR_DIGITS,
)
from maskwright.mask.ready_rows.tokens import Subtrees
from maskwright.mask.ready_rows.words import WordPoints, walk_words
from maskwright.vocab.trie import Trie

SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t", "\b": "\\b"}
LETTERS = ["a", "b", "/", "\n", '"', "é", "è", "日", "😀", "😁"]


def spellings(character: str) -> list[bytes]:
    """All ways to write a character in a JSON string, with digits of one case."""
    units = character.encode("utf-16-be").hex()
    escaped = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    plain = [character] if character >= " " and character not in '"\\' else []
    short = [SHORT[character]] if character in SHORT else []
    return [each.encode() for each in (*plain, *short, escaped)]


def beginnings(words: list[str], *, plain: bool = False) -> set[bytes]:
    """Every text with which a word can begin, as it is spelled."""
    found = {b""}
    for word in words:
        choices = [[c.encode()] if plain else spellings(c) for c in word]
        for each in product(*choices):
            text = b"".join(each)
            found |= {text[:end] for end in range(len(text) + 1)}
    return found


def staying(
    tokens: list[bytes],
    words: list[str],
    place: tuple[int, int, int],
    part: int = BETWEEN,
    value: int = 0,
    *,
    plain: bool = False,
) -> list[bytes]:
    subtrees = Subtrees(Trie.build(tokens), np.zeros(len(tokens), np.bool_))
    row = np.zeros(len(tokens) // 32 + 1, np.int32)
    walk_words(subtrees, WordPoints(words), *place, part, value, row, plain)
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    return [token for at, token in enumerate(tokens) if bits[at]]


def drawn(random: Random) -> list[str]:
    words = {"".join(random.choices(LETTERS, k=random.randint(0, 4))) for _ in range(9)}
    return sorted(words | {"a", "ab"})


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_tokens_that_begin_a_word_stay(seed: int, plain: bool) -> None:
    """At every place of the list; tokens are beginnings of words, some with another byte."""
    random = Random(seed)
    words = drawn(random)
    known = sorted(beginnings(words, plain=plain))
    wrong = [text + bytes([random.choice(b'ab/"\\u0\xc3\xa9\xf0')]) for text in known]
    inner = [text[random.randint(0, len(text)) :] for text in known]
    tokens = [text for text in dict.fromkeys(known + wrong + inner) if text]
    places = {(word[:depth], depth) for word in words for depth in range(len(word) + 1)}
    for prefix, depth in sorted(places):
        alike = [at for at, word in enumerate(words) if word.startswith(prefix)]
        place = (alike[0], alike[-1] + 1, depth)
        right = beginnings([words[at][depth:] for at in alike], plain=plain)
        found = staying(tokens, words, place, plain=plain)
        assert found == [token for token in tokens if token in right]
    assert len(places) > 5


@pytest.mark.parametrize(
    ("begun", "part", "value"),
    [
        (b"\xc3", 1, 0x3),
        (b"\xe6\x97", 1, 0x197),
        (b"\xf0", 3, 0x0),
        (b"\\", BACKSLASH, 0),
        (b"\\u", DIGITS + 4, 0),
        (b"\\u00", DIGITS + 2, 0),
        (b"\\ud83d", PAIR, 0x3D << 16),
        (b"\\ud83d\\ude", PAIR_DIGITS + 2, 0x3D << 16 | 0xDE),
    ],
)
def test_tokens_within_a_character(begun: bytes, part: int, value: int) -> None:
    words = sorted(["/", "\n", "a", "ab", "é", "èa", "日b", "😀", "😁b"])
    right = beginnings(words)
    assert begun in right
    rest = [text[len(begun) :] for text in sorted(right) if text.startswith(begun)]
    tokens = [text for text in dict.fromkeys([*rest, *(t + b"z" for t in rest), b"q"]) if text]
    found = staying(tokens, words, (0, len(words), 0), part, value)
    assert found == [token for token in tokens if begun + token in right]
    assert len(found) >= 2


def test_tokens_within_a_character_that_is_known() -> None:
    """Any bytes may complete it, and then a word goes on."""
    tokens = [b"\x80", b"\x80\x81", b"\x80\x81a", b"\x80\x81b", b"a"]
    found = staying(tokens, ["xa"], (0, 1, 1), ANY_BYTES + 2, 0)
    assert found == [b"\x80", b"\x80\x81", b"\x80\x81a"]


def test_wrong_places_are_refused() -> None:
    for place in ((0, 3, 0), (-1, 1, 0), (1, 1, 0), (0, 1, -1)):
        with pytest.raises(IndexError, match="no words"):
            staying([b"a"], ["a", "bc"], place)
    with pytest.raises(ValueError, match="fewer than 2"):
        staying([b"a"], ["a", "bc"], (0, 2, 2))
