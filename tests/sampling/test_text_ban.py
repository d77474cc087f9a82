"""Which tokens would complete a forbidden string, held against every token tried out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskwright.sampling import TextBan

TEXTS = (
    *(b"", *(bytes([a]) for a in b"abc"), *(bytes([a, b]) for a in b"abc" for b in b"abc")),
    *(b"abca", b"cab", b"", b"aab", "é".encode(), "é".encode()[:1], "é".encode()[1:]),
)
WORDS = st.lists(
    st.text("abcé", min_size=1, max_size=4).map(str.encode), min_size=1, max_size=4, unique=True
)


@given(WORDS, st.lists(st.integers(0, len(TEXTS) - 1), max_size=8))
def test_a_token_is_banned_exactly_if_it_completes_a_word(
    words: list[bytes], output: list[int]
) -> None:
    so_far = b"".join(TEXTS[token] for token in output)

    def occurrences(text: bytes) -> int:
        return sum(text.startswith(word, at) for word in words for at in range(len(text)))

    banned = set(TextBan(words, TEXTS).tokens(output).tolist())
    before = occurrences(so_far)
    assert banned == {
        token for token, text in enumerate(TEXTS) if occurrences(so_far + text) > before
    }


def test_nothing_is_banned_without_words() -> None:
    assert TextBan([], TEXTS).tokens([1, 2]).tolist() == []
