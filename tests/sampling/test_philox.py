"""Known answers of Philox4x32-10, from the authors' Random123 distribution (kat_vectors)."""

import numpy as np
import pytest

from maskwright.sampling.philox import philox, token_words

KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def words(text: str) -> list[np.ndarray]:
    return [np.array([int(word, 16)], np.uint64) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter: str, key: str, expected: str) -> None:
    got = philox(tuple(words(key)), tuple(words(counter)))
    assert [f"{int(word[0]):08x}" for word in got] == expected.split()


def test_four_tokens_share_a_counter() -> None:
    seed = np.array([0x123456789ABCDEF0], np.uint64)
    position = np.array([77], np.uint64)
    got = token_words(seed, position, np.array([5], np.uint64), 2)
    key = (np.array([0x9ABCDEF0], np.uint64), np.array([0x12345678], np.uint64))
    counter = tuple(np.array([word], np.uint64) for word in (5, 77, 2, 0))
    assert got.tolist() == [[int(word[0]) for word in philox(key, counter)]]
