"""Lists of words as tries, and which terms are such lists."""

from __future__ import annotations

import pytest

from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    Words,
    alt,
    char,
    complement,
    repeat,
    tagged,
    word_list,
    word_slice,
    words,
)
from maskwright.grammar.regular.word_lists import (
    has_minimal_escapes,
    with_minimal_escapes,
    word_arcs,
)


def read(node: Words) -> list[str]:
    """The words below a node of the trie."""
    found = [""] if node.nullable else []
    for low, high, child in word_arcs(node):
        assert low == high
        found += [chr(low) + rest for rest in read(child)]
    return found


@pytest.mark.parametrize(
    "given",
    [
        ["a"],
        ["", "a", "ab", "abc", "b"],
        ["ab", "ac", "ad", "b", "bc"],
        ["a\U0010ffff", "a\U0010fffe", "b"],
        ["é", "e", "日本", "日"],
        [f"{n:03}" for n in range(0, 1000, 7)],
    ],
)
def test_a_trie_has_the_words_in_order(given: list[str]) -> None:
    term = words(given)
    assert isinstance(term, Words)
    assert read(term) == sorted(given)


def test_a_slice_has_its_words_alone() -> None:
    table = word_list(["aa", "ab", "ac", "b"])
    assert read(word_slice(table, 1, 3, 1)) == ["b", "c"]


LISTED = words(["a", '"']), words(["b"])
BARE = word_slice(word_list(["a", '"'], bare=True)), word_slice(word_list(["b"], bare=True))


@pytest.mark.parametrize(
    ("term", "bare"),
    [
        (LISTED[0], BARE[0]),
        (BARE[0], BARE[0]),
        (tagged((LISTED[0], EMPTY), named=True), tagged((BARE[0], EMPTY), named=True)),
        (tagged(LISTED), tagged(BARE)),
        (alt(*LISTED), alt(*BARE)),
    ],
)
def test_lists_become_bare(term: Regular, bare: Regular) -> None:
    assert with_minimal_escapes(term) is bare
    assert has_minimal_escapes(bare)
    assert has_minimal_escapes(term) is (term is bare)


@pytest.mark.parametrize(
    "term",
    [
        EPSILON,
        char("a"),
        repeat(LISTED[0]),
        complement(LISTED[0]),
        alt(LISTED[0], repeat(char("x"))),
        tagged((LISTED[0], repeat(char("x"))), named=True),
    ],
)
def test_other_terms_stay(term: Regular) -> None:
    assert with_minimal_escapes(term) is term
    assert not has_minimal_escapes(term)


def test_the_rest_of_a_word_becomes_the_rest_of_a_bare_one() -> None:
    listed, bare = word_list(["ab", "ac"]), word_list(["ab", "ac"], bare=True)
    assert with_minimal_escapes(word_slice(listed, 1, 2, 1)) is word_slice(bare, 1, 2, 1)
