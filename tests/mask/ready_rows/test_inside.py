"""Which tokens stay inside a JSON string: the judge reads each token on its own."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from maskwright.automaton.leaf.character_arrays import Characters
from maskwright.automaton.leaf.spelling import (
    ANY_BYTES,
    ANY_DIGITS,
    BACKSLASH,
    BETWEEN,
    DIGITS,
    PAIR,
    PAIR_DIGITS,
    PAIR_U,
)
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.character_dfa import NEVER, CharacterDfa
from maskwright.grammar.regular.derivative import split
from maskwright.mask.ready_rows.inside import Measure, Unwalked, walk_string
from maskwright.mask.ready_rows.tokens import Subtrees
from maskwright.vocab.trie import Trie

UNBOUNDED = (0, NEVER)


def stays(token: bytes) -> bool:
    """Whether a token is whole characters or escapes that a string of any characters may hold."""
    try:
        return json.loads(b'"' + token + b'"').encode() != b"" and b'"' not in token
    except (ValueError, UnicodeError):
        return False


def walked(
    pattern: str,
    tokens: list[bytes],
    part: int = BETWEEN,
    value: int = 0,
    bounds: tuple[int, int] | None = None,
) -> tuple[list[bytes], int]:
    """The tokens that stay inside a string of `pattern`, of which `part` of a character has been
    read, with its least and most characters; and the room that they need."""
    automaton = CharacterDfa(full_match(pattern), split)
    automaton.explore(1_000)
    fewest = np.zeros((0, 0), np.int32)
    if bounds is not None:
        fewest = automaton.fewest(bounds[0])[: bounds[0] + 1]
    trie = Trie.build(tokens)
    subtrees = Subtrees(trie, np.array([stays(token) for token in tokens]))
    row, missing = np.zeros(len(tokens) // 32 + 1, np.int32), np.full(4, -1, np.int32)
    lacking, needed = walk_string(
        subtrees, Characters(automaton).update(), Measure(fewest, *(bounds or UNBOUNDED)),
        0, part, value, row, missing, False, None, Unwalked(),
    )  # fmt: skip
    assert lacking == 0
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    return [token for at, token in enumerate(tokens) if bits[at]], needed


CASES: list[tuple[str, int, int, list[bytes], list[bytes]]] = [
    ("[a-c]*", BETWEEN, 0, [b"a", b"abc", b"\\u0061", b"\\", b"\\u", b"\\u00", b"\\u006"],
     [b"d", b"ad", b"\\n", b"\\u1", b"\\u0064", b'a"', b"\xc3", b"\\x"]),
    ('["\\\\/\b\f\n\r\t]*', BETWEEN, 0,
     [b'\\"', b"\\\\", b"\\/", b"/", b"\\b\\f", b"\\n\\r\\t", b"\\u000A", b"\\u000a"],
     [b'"', b"\n", b"\\a", b"\\u000b", b"\\u000g"]),
    ("[é日😀]*", BETWEEN, 0,
     ["é".encode(), b"\xc3", b"\xe6\x97", "日😀".encode(), b"\xf0\x9f", b"\\u65e5",
      b"\\ud83d", b"\\ud83d\\", b"\\ud83d\\u", b"\\ud83d\\ude", b"\\ud83d\\ude00"],
     [b"\xc3\xa8", b"\xc2", b"\xe6\x98", b"\xf0\x9e", b"\\ud83e", b"\\ud83d\\ude01", b"\\ude00",
      b"\\ud83da", b"\\ud83d\\n", b"\\ud83d\\u00", b"\x80", b"\xff"]),
    ("[^]*", BETWEEN, 0, [b"a", b"\xed\x9f\xbf", b"\xf4\x8f\xbf\xbf", b"\xe0\xa0", b"\x7f"],
     [b"\xed\xa0", b"\xf4\x90", b"\xe0\x9f", b"\xf0\x8f", b"\xf5", b"\xc1", b"\x1f", b"\xc3a"]),
    ("[é]a", 1, 0x3, [b"\xa9", b"\xa9a"], [b"\xa8", b"a", b"\xa9b"]),
    ("[日]a", 2, 0x6, [b"\x97", b"\x97\xa5a"], [b"\x98", b"\x97\xa6"]),
    ("[a\n]b", BACKSLASH, 0, [b"n", b"nb", b"u", b"u0061b", b"u000a"], [b"t", b"b", b"u0062"]),
    ("[a\n]b", DIGITS + 2, 0, [b"61", b"0a", b"6", b"0Ab"], [b"62", b"7", b"g", b"0ac"]),
    ("[😀]b", PAIR, 0x3D << 16, [b"\\", b"\\u", b"\\ude00b"], [b"b", b"\\n", b"\\ud800"]),
    ("[😀]b", PAIR_U, 0x3D << 16, [b"u", b"ude00"], [b"n", b"\\", b"ude01"]),
    ("[😀]b", PAIR_DIGITS + 2, 0x3D << 16 | 0xDE, [b"0", b"00b"], [b"01", b"1", b"00c"]),
    ("b*", ANY_BYTES + 2, 0, [b"\x80", b"\xbf\x80bb"], [b"\x80b", b"b", b"\xbf\x80c", b"\xc0"]),
    ("b*", ANY_DIGITS + 2, 0, [b"0", b"fFb"], [b"0g", b"g", b"00c"]),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "part", "value", "accepted", "rejected"), CASES, ids=str)
def test_tokens(
    pattern: str, part: int, value: int, accepted: list[bytes], rejected: list[bytes]
) -> None:
    found, _ = walked(pattern, accepted + rejected, part, value)
    assert found == accepted


@pytest.mark.parametrize(
    ("pattern", "bounds", "accepted", "rejected", "needed"),
    [
        ("[ab]*", (0, 3), [b"a", b"aba", b"\\u0061bb"], [b"abab"], 3),
        ("a*b", (0, 3), [b"a", b"aa", b"aab"], [b"aaa", b"aaab"], 3),
        ("a*b", (3, 4), [b"a", b"aaa", b"aab"], [b"b", b"ab", b"aaaa"], 4),
        ("(aa)*", (0, 5), [b"a", b"aa", b"aaa", b"aaaa"], [b"aaaaa"], 4),
        ("[a-z]*", (2, 2), [b"a", b"az", b"z\\"], [b"azz", b"az\\"], 2),
        ("a|bcd", (0, 9), [b"a", b"b", b"bcd"], [b"ab", b"bd"], 3),
    ],
)
def test_length_bounds(
    pattern: str, bounds: tuple[int, int], accepted: list[bytes], rejected: list[bytes], needed: int
) -> None:
    assert walked(pattern, accepted + rejected, bounds=bounds) == (accepted, needed)


@pytest.mark.parametrize("pattern", ["[ab]*", "(ab)*a?", "[^b]*", "a[^]*", "[ -b]+"])
@pytest.mark.parametrize("most", [2, 4, NEVER - 1])
def test_subtrees_taken_as_a_whole_hold_what_each_token_says(pattern: str, most: int) -> None:
    """Words of up to four letters; `re` says which are the beginning of a text short enough."""
    words = [b"a", b"b", b"c"]
    tokens = list(words)
    for _ in range(3):
        words = [word + letter for word in words for letter in (b"a", b"b", b"c")]
        tokens += words
    found, _ = walked(pattern, tokens, bounds=(0, most))
    ends = ["", "a", "b"]
    python = re.compile(pattern.replace("[^]", "."))
    expected = [
        token for token in tokens
        if any(len(token) + len(end) <= most and python.fullmatch(token.decode() + end)
               for end in ends)
    ]  # fmt: skip
    assert found == expected


def test_a_walk_goes_on_where_it_lacked_transitions() -> None:
    automaton = CharacterDfa(full_match("a(b|c)x"), split)
    automaton.explore(1)
    tokens = [b"a", b"ab", b"ac", b"abx", b"acx", b"b"]
    trie = Trie.build(tokens)
    subtrees = Subtrees(trie, np.ones(len(tokens), np.bool_))
    measure = Measure(np.zeros((0, 0), np.int32), *UNBOUNDED)
    characters, row, rest = Characters(automaton), np.full(1, -1, np.int32), Unwalked()

    def walk() -> tuple[int, list[int]]:
        missing = np.full(3, -1, np.int32)
        arrays = characters.update()
        lacking, _ = walk_string(
            subtrees, arrays, measure, 0, BETWEEN, 0, row, missing, False, None, rest,
        )  # fmt: skip
        return lacking, missing.tolist()

    assert walk() == (1, [1, -1, -1]), "after a, once for b and c"
    assert row[0] == 1, "only what is certain"
    automaton.find(1)
    row[0] = 0
    assert walk() == (2, [2, -1, -1]), "after ab and after ac, which are one state"
    assert row[0] == 0b110, "what has been walked is not walked again"
    automaton.find(2)
    assert walk() == (0, [-1, -1, -1])
    assert row[0] == 0b11110
