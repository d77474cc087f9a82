"""Known answers of Philox4x32-10, from the authors' Random123 distribution (kat_vectors)."""

import numpy as np
import pytest
import torch

from maskwright.kernels.reference import random_words
from maskwright.sampling.draw import philox

KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def numbers(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter: str, key: str, expected: str) -> None:
    low, high = numbers(key)
    got = np.empty((4, 16), np.uint32)
    philox(low | high << 32, numbers(counter), got.reshape(64))
    assert [f"{int(word):08x}" for word in got[:, 0]] == expected.split()


def plain(key: list[int], counter: list[int]) -> list[int]:
    """The algorithm in Python's integers."""
    for _ in range(10):
        first, second = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [
            (second >> 32) ^ counter[1] ^ key[0],
            second & 0xFFFFFFFF,
            (first >> 32) ^ counter[3] ^ key[1],
            first & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_the_plain_algorithm_too(counter: str, key: str, expected: str) -> None:
    assert plain(numbers(key), numbers(counter)) == numbers(expected)


@pytest.mark.parametrize("vocab_size", [1, 4, 5, 205])
@pytest.mark.parametrize("stream", [0, 2])
def test_words_of_counters_in_a_row_and_of_all_tokens(vocab_size: int, stream: int) -> None:
    """Four neighbouring tokens share a counter (token >> 2, position, stream, 0)."""
    seeds = [0, 0x123456789ABCDEF0, 2**64 - 1]
    positions = [0, 77, 2**20]
    expected = [
        [
            plain([seed & 0xFFFFFFFF, seed >> 32], [token >> 2, position, stream, 0])[token & 3]
            for token in range(vocab_size)
        ]
        for seed, position in zip(seeds, positions, strict=True)
    ]
    whole = np.array(seeds, np.uint64), np.array(positions, np.uint64)
    signed = [torch.from_numpy(values.view(np.int64)) for values in whole]
    assert random_words(*signed, vocab_size, stream).tolist() == expected
    for number, (seed, position) in enumerate(zip(*whole, strict=True)):
        for first in range(0, vocab_size, 64):
            out = np.empty((4, 16), np.uint32)
            philox(seed, (first // 4, position, stream, 0), out.reshape(64))
            some = expected[number][first : first + 64]
            assert out.T.flatten().tolist()[: len(some)] == some


def test_words_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match="there are 64 random words, and room for 60"):
        philox(0, (0, 0, 0, 0), np.empty(60, np.uint32))
