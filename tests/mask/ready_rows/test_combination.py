"""Rows of exactly one of several languages: the judge reads each token with the terms."""

from __future__ import annotations

import re
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest

from maskwright import LimitError, Limits, compile_json_schema
from maskwright.automaton.leaf.keys import Begun, Key, Text
from maskwright.automaton.leaf.spelling import BACKSLASH
from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.character_dfa import known_place
from maskwright.grammar.regular.derivative import derivative, is_live, split
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    alt,
    complement,
    exactly_one,
    intersection,
    tagged,
)
from maskwright.limits import Work
from maskwright.mask.ready_rows.combination import FEWEST, ProductAutomaton, exclusive
from maskwright.mask.ready_rows.strings import StringRows
from maskwright.vocab import Vocabulary
from tests.matching import vocabulary
from tests.properties.patterns import counted_pattern

TOKENS: dict[bytes, list[str]] = {
    **{text.encode(): [text] for n in (1, 2, 3) for text in map("".join, product("abé", repeat=n))},
    b"\xc3": [chr(point) for point in range(0xC0, 0x100)],
    b"ab\xc3": ["ab" + chr(point) for point in range(0xC0, 0x100)],
    b"\\u0061b": ["ab"],
    b"b\\u00e": ["b" + chr(point) for point in range(0xE0, 0xF0)],
    b"a\\": ["a" + chr(point) for point in (0x61, 0x62, 0xE9, 0x0A)],
}  # fmt: skip
"""Tokens, and texts that they are or may become; of an escape, those that a pattern may name."""
PARTIAL = {b"\xa9": "é", b"\xa9b": "éb", b"\xa9\xc3\xa9a": "ééa", b"\xa0": "à"}
"""What may follow the first byte of é, and the text that it is then."""
ESCAPED = {b"u0061": "a", b"u0061b": "ab", b"u00e9": "é", b"n": "\n", b"/a": "/a"}
"""What may follow a backslash, and the text that it is then."""


def row_of(rows: StringRows, key: Key) -> set[bytes]:
    """The tokens of a ready row."""
    bits = np.unpackbits(rows.ready(0, [key]).view(np.uint8), bitorder="little")
    return {token for token, bit in zip(VOCABULARY.tokens, bits, strict=False) if bit and token}


def staying(term: Regular) -> set[bytes]:
    """The tokens after which a string of `term` may still end, read one by one."""
    return {
        token
        for token, texts in TOKENS.items()
        if any(is_live(derivative(term, text)) for text in texts)
    }


VOCABULARY = vocabulary(*TOKENS, *PARTIAL, *ESCAPED, alphabet="\r")


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_those_of_the_terms(seed: int) -> None:
    """Also of what comes later in a text, and of what is left when an option has been found."""
    random = Random(seed)
    count = random.randint(FEWEST, 7)
    options = [
        full_match(counted_pattern(random, "abé", random.randint(2, 5))) for _ in range(count)
    ]
    excluded = full_match("b[^]*") if seed % 3 == 0 else EMPTY
    start = exactly_one(options, excluded)
    rows = StringRows(VOCABULARY)
    for text in ("", "a", "b", "ab", "aéb", "bab"):
        term = derivative(start, text)
        if is_live(term):
            found = row_of(rows, Text(inside=True, term=term)) & TOKENS.keys()
            assert found == staying(term), (text, options)


@pytest.mark.parametrize("seed", range(20))
def test_rows_within_a_character(seed: int) -> None:
    random = Random(seed)
    term = exactly_one(full_match(counted_pattern(random, "abé", 4)) for _ in range(5))
    if not is_live(term):
        return
    rows = StringRows(VOCABULARY)
    for key, rests in (
        (Begun(True, term, 1, 3), PARTIAL),
        (Begun(True, term, BACKSLASH, 0), ESCAPED),
    ):
        right = {rest for rest, text in rests.items() if is_live(derivative(term, text))}
        assert row_of(rows, key) & rests.keys() == right, key


def test_exactly_one_of_what_re_matches() -> None:
    """The judge knows no automata: it matches all texts of up to seven characters."""
    patterns = ["a.*b", "b.*a", "é", "^a?b{2}", "[aé]{3}$"]
    texts = ["".join(each) for n in range(8) for each in product("abcé", repeat=n)]
    right = [text for text in texts if sum(re.search(p, text) is not None for p in patterns) == 1]
    beginnings = {text[:end] for text in right for end in range(len(text) + 1)}
    start = exactly_one(map(search, patterns))
    rows = StringRows(VOCABULARY)
    for before in ["".join(each) for n in range(3) for each in product("abé", repeat=n)]:
        found = row_of(rows, Text(inside=True, term=derivative(start, before)))
        for token, after in TOKENS.items():
            if token.decode(errors="replace") == after[0]:  # it is whole characters
                assert (token in found) == (before + after[0] in beginnings), (before, token)


def test_which_terms_have_options() -> None:
    some = [search(f"{one}.*{one}") for one in "abcdefgh"]
    found = exclusive(exactly_one(some[:5], alt(*some[5:])))
    assert found is not None
    assert set(found.options) == set(some[:5])
    assert set(found.excluded) == set(some[5:])
    found = exclusive(complement(alt(*some[:5])))
    assert found is not None
    assert found.options == (ANYTHING,)
    found = exclusive(intersection(some[0], complement(some[1]), complement(alt(*some[2:4]))))
    assert found is not None
    assert found.options == (some[0],)
    assert len(found.excluded) == 3
    assert exclusive(intersection(some[0], some[1], complement(alt(*some[2:])))) is None
    assert exclusive(exactly_one(some[:3])) is None, "few"
    assert exclusive(complement(alt(*map(search, map(chr, range(0x100, 0x180)))))) is None, "many"


def test_an_option_without_strings_is_none() -> None:
    never = intersection(full_match("[ab]*a"), full_match("[ab]*b"))
    term = exactly_one([never, *(search(f"{one}.*{one}") for one in "abé")])
    found = row_of(StringRows(VOCABULARY), Text(inside=True, term=term))
    assert found & TOKENS.keys() == staying(term)


def test_a_part_without_strings_adds_no_token() -> None:
    """As the names of some properties, beside those of others: they have no string together."""
    never = intersection(search("b.*b"), complement(alt(*(search(each) for each in "bdf"))))
    assert exclusive(never) is not None
    assert not is_live(never)
    some = full_match("a(b|é)*")
    found = row_of(StringRows(VOCABULARY), Text(inside=True, term=tagged((never, some))))
    assert found & TOKENS.keys() == staying(some)


def test_parts_keep_the_automata_that_they_had() -> None:
    parts = [search(f"{one}.*{one}") for one in "acde"]
    language = exclusive(exactly_one(parts))
    assert language is not None
    made = ProductAutomaton(len(language.parts))
    made.state(language)
    assert made.knows(language)
    assert all(known_place(part) is None for part in parts)


LETTERS = "abcdefghijklm"
WORDS = vocabulary(*("".join(Random(seed).choices(LETTERS, k=5)) for seed in range(3_000)))
PAIRS = {
    "type": "string",
    "oneOf": [{"pattern": f"{one}.*{other}"} for one, other in pairwise(LETTERS)],
}


def walked(work: int, vocabulary: Vocabulary = WORDS) -> list[int]:
    """How many tokens each mask along a text allows."""
    matcher = compile_json_schema(PAIRS, vocabulary, limits=Limits(work=work)).matcher()
    out = np.zeros(vocabulary.words, np.int32)
    found: list[int] = []
    for character in '"acegik':
        matcher.fill_mask(out, 1_000)
        found.append(int(np.unpackbits(out.view(np.uint8)).sum()))
        assert matcher.accept_bytes(character.encode())
    return found


def test_masks_of_a_dozen_patterns_take_few_steps() -> None:
    """Within a budget, too: how far it is to an end is known without a search."""
    found = walked(30_000)
    assert 1_000 < found[1] < 3_000, "many words match two of the patterns"


def test_a_row_that_was_abandoned_is_found_later() -> None:
    """Also where states of parts were listed to be found, and then the work was over."""
    language = [search(f"^{one}?.*{one}.{{{at}}}$") for at, one in enumerate("abéab", 1)]
    key = Text(inside=True, term=exactly_one(language))
    rows = StringRows(VOCABULARY)
    abandoned, found = 0, None
    for work in range(5, 20_000, 5):
        try:
            with Work(Limits(work=work)):
                found = row_of(rows, key)
                break
        except LimitError:
            abandoned += 1
    assert abandoned > 5
    assert found is not None
    assert found == row_of(StringRows(VOCABULARY), key)
    assert found & TOKENS.keys() == staying(key.term)


def test_tables_grow_and_keep_what_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    term = exactly_one([search(f"{one}.*{other}") for one, other in product("abé", repeat=2)])
    large = row_of(StringRows(VOCABULARY), Text(inside=True, term=term))
    monkeypatch.setattr("maskwright.mask.ready_rows.combination._ROOM", 2)
    monkeypatch.setattr("maskwright.mask.ready_rows.combination._AHEAD", 1)
    assert row_of(StringRows(VOCABULARY), Text(inside=True, term=term)) == large
    assert large & TOKENS.keys() == staying(term)


def test_a_living_term_is_known_by_a_string_of_a_part() -> None:
    """Its transitions are found without the many transitions of the states that it leads to."""
    options = [
        search(f"{one}.*{other}") for one, other in zip("abcdefghijkl", "mnopqrstuvwx", strict=True)
    ]
    for option in options:
        assert split(option).targets
    with Work(Limits(work=600)):
        assert len(split(exactly_one(options)).targets) == 13
