"""The longest tokens by the characters that they hold, against a look at each token."""

from __future__ import annotations

from random import Random

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.byte_alphabet import EVERY, alphabet
from maskwright.mask.ready_rows.reach import Reach
from maskwright.vocab.trie import Trie

TOKENS = ["a", "ab", "abcabc", "aé", "éééé", "12345678", "a1", "----------", "日本a", "ab\\n1234"]


@pytest.mark.parametrize("pattern", ["[a-c]*", "[a-c]*1", "[é]", "[aé]", "[0-9]", "日|本", "-*x"])
def test_no_token_of_these_characters_is_longer(pattern: str) -> None:
    letters = alphabet(full_match(pattern))
    found = Reach(Trie.build([token.encode() for token in TOKENS])).characters(letters)
    held = [
        token
        for token in TOKENS
        if "\\" not in token and all(letters >> ord(c[:1]) & 1 if c < "\x80" else
            letters >> c.encode()[0] & 1 for c in token)
    ]  # fmt: skip
    assert found >= max(map(len, held), default=0)
    assert found <= 8 or "-" in pattern


def test_every_character_is_counted_where_all_may_stand() -> None:
    reach = Reach(Trie.build([token.encode() for token in TOKENS]))
    assert reach.characters(EVERY) == 10
    assert reach.characters(1 << ord("x")) == 0


def test_bytes_of_a_character_begun_before_count_as_one() -> None:
    trie = Trie.build(["é".encode()[1:] + b"xx", b"y"])
    assert Reach(trie).characters(1 << ord("x")) == 3


def test_random_tokens_give_the_most_that_any_of_them_holds() -> None:
    random = Random(0)
    for _ in range(200):
        tokens = ["".join(random.choices("aab\\", k=random.randint(1, 7))) for _ in range(30)]
        letters = random.choice((0b00, 0b01, 0b10, 0b11)) << ord("a")
        expected = max(_held(token, letters) for token in tokens)
        assert (
            Reach(Trie.build([token.encode() for token in tokens])).characters(letters) == expected
        )


def _held(token: str, letters: int) -> int:
    """The characters of the longest beginning of a token that may stand; see `_most_characters`."""
    for at, character in enumerate(token):
        if character == "\\":
            return len(token)
        if not letters >> ord(character) & 1:
            return at
    return len(token)
