"""The fewest tokens that spell a text, and which of several ways."""

from __future__ import annotations

import itertools
import pickle
import random
import re

import pytest

from maskwright.errors import UnspellableError
from maskwright.vocab import spellings as spellings_module
from maskwright.vocab.spellings import Spellings

SPELLED: list[tuple[list[str], str, list[str]]] = [
    (["a", "b"], "", []),
    (["a", "b", "ab"], "ab", ["ab"]),
    (["a", "b", "ab", "bbb"], "abbb", ["a", "bbb"]),  # the longest first token is the wrong one
    # Of equally few, the way whose first token is longest:
    (["a", "b", "c", "ab", "bc"], "abc", ["ab", "c"]),
    (["a", "b", "ab", "bb"], "abb", ["ab", "b"]),
    (["a", "aa", "aaa"], "aaaa", ["aaa", "a"]),
    (["a", "b", "c", "d", "ab", "abc", "bcd", "cd"], "abcd", ["abc", "d"]),
    # and so on after it:
    (["x", "a", "b", "c", "ab", "bc"], "xabc", ["x", "ab", "c"]),
    (["é", "\N{EURO SIGN}"], "é\N{EURO SIGN}é", ["é", "\N{EURO SIGN}", "é"]),
]


@pytest.mark.parametrize(("tokens", "data", "expected"), SPELLED)
def test_the_fewest_tokens(tokens: list[str], data: str, expected: list[str]) -> None:
    """Whatever the order of the tokens."""
    for order in itertools.islice(itertools.permutations(tokens), 24):
        spellings = Spellings.of([token.encode() for token in order])
        ids = spellings.fewest(data.encode())
        assert [order[token] for token in ids] == expected
        assert not data or spellings.first_of_fewest(data.encode()) == ids[0]


def test_of_equal_tokens_the_lowest_id() -> None:
    assert Spellings.of([b"", b"b", b"a", b"a", b"b"]).fewest(b"ab") == [2, 1]


UNSPELLABLE: list[tuple[list[str], str, str]] = [
    (["a"], "b", "'b'"),
    (["a", "b"], "abca", "'c'"),
    (["ab"], "aab", "'a'"),
    (["ab", "c"], "cabb", "'b'"),
    (["a", "aé"], "aéé", "'é'"),
]


@pytest.mark.parametrize(("tokens", "data", "place"), UNSPELLABLE)
def test_what_fits_nowhere_is_named(tokens: list[str], data: str, place: str) -> None:
    spellings = Spellings.of([token.encode() for token in tokens])
    with pytest.raises(UnspellableError, match=re.escape(f"nothing fits at {place}")):
        spellings.fewest(data.encode())


@pytest.mark.parametrize(
    ("data", "place"), [(b"a\xff", r"b'\xff'"), (b"\xc3", r"b'\xc3'"), (b"a\xc3\xa9", "'é'")]
)
def test_a_byte_that_is_no_character_is_named_as_a_byte(data: bytes, place: str) -> None:
    with pytest.raises(UnspellableError, match=re.escape(f"nothing fits at {place}")):
        Spellings.of([b"a"]).fewest(data)


def test_what_was_counted_for_one_text_serves_those_that_end_alike() -> None:
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abc", b"cab", b"bbb", b"cc", b"ca"]
    draw = random.Random(7)
    texts = ["".join(draw.choices("abc", k=draw.randrange(9))).encode() for _ in range(40)]
    ends = ["".join(draw.choices("abcd", k=draw.randrange(40))).encode() for _ in range(6)]
    kept = Spellings.of(tokens)
    for _ in range(400):
        data = draw.choice(texts) + draw.choice(ends)
        found = [_spelled(each, data) for each in (kept, Spellings.of(tokens))]
        assert found[0] == found[1], data
        assert found[0] is None or b"".join(tokens[token] for token in found[0]) == data


def test_what_was_counted_for_a_very_long_text_is_not_kept() -> None:
    spellings = Spellings.of([b"a"])
    spellings.fewest(b"aa")
    spellings.fewest(b"a" * 140_000)
    assert len(pickle.dumps(spellings)) < 10_000


def test_long_texts_are_spelled_as_short_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abc", b"cab", b"bbb", b"aaaa", b"ca"]
    draw = random.Random(11)
    units = ["".join(draw.choices("abc", k=draw.randrange(1, 6))) for _ in range(20)]
    texts = [(draw.choice(units) * 8 + draw.choice(units)).encode() for _ in range(100)]
    expected = [Spellings.of(tokens).fewest(data) for data in texts]
    monkeypatch.setattr(spellings_module, "_LONG", 1)
    kept = Spellings.of(tokens)
    assert [kept.fewest(data) for data in texts] == expected
    for data, ids in zip(texts, expected, strict=True):
        for spellings in (kept, Spellings.of(tokens)):
            assert spellings.fewest_count(data) == len(ids)


def test_an_end_of_the_latest_text_needs_no_counting() -> None:
    spellings = Spellings.of([b"a", b"aaa", b"b"])
    assert spellings.fewest_count(b"baaaa") == 3
    assert spellings.fewest_count(b"aaaa") == 2
    assert spellings.fewest(b"aa") == [0, 0]
    with pytest.raises(UnspellableError):
        spellings.fewest_count(b"caaaa")
    assert spellings.fewest_count(b"aaaa") == 2


def _spelled(spellings: Spellings, data: bytes) -> list[int] | None:
    try:
        return spellings.fewest(data)
    except UnspellableError:
        return None
