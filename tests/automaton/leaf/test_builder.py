"""The rows of leaf states: which texts each kind of place reads on, and with what label it ends."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pytest

from maskwright.automaton.leaf.keys import (
    ChoiceState,
    End,
    Entry,
    Key,
    LiteralState,
    Padded,
    Spaced,
    Text,
    TokenId,
    TokenRead,
)
from maskwright.automaton.leaf.special_tokens import spelling
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import parallel_start
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Parallel,
    Regular,
    WordList,
    tagged,
    word_list,
    word_slice,
)
from tests.leaf_states import label_after

NAME, IF, WIDE = full_match("[a-z]+"), full_match("if"), full_match("[а-я]+|日")
WORDS = ("name", "names", 'q"')
BEYOND = ("name", "é")


def names(*others: Regular, words: tuple[str, ...] = WORDS) -> Regular:
    """A list of names, built state by state where it is read, and other languages of names."""
    table = WordList(words, False)
    table.whole = False
    return tagged((word_slice(table), *others), named=True)


def number(word: str) -> int:
    """The entry of a label that says that a word of `WORDS` has been read."""
    return 1 + WORDS.index(word)


PLACES: list[tuple[str, Callable[[int], Key], dict[bytes, Hashable], list[bytes]]] = [
    ("literal", lambda end: LiteralState(b"null", end), {b"null": "end"}, [b"nulls", b"mull"]),
    (
        "spaces",
        lambda _: Spaced(2, "spaced"),
        {b"": "spaced", b" ": "spaced", b"\t\n": "spaced", b"\r ": "spaced"},
        [b"   ", b"\x0b", b"a"],
    ),
    (
        "padding",
        lambda end: Padded(2, end),
        {b" x": "end", b"\n\tx": "end", b"x": "end"},
        [b"   x", b"y", b" ", b" y"],
    ),
    (
        "choice",
        lambda end: ChoiceState(full_match("a?"), full_match("12|1|true"), ((ord("["), end),)),
        {b'"a"': 1, b'""': 1, b"1": 1, b"12": 1, b"true": 1, b"[": "end", b'"\\u0061"': 1},
        [b'"aa"', b"2", b'"a', b"[[", b"", b"a", b"tru"],
    ),
    (
        "choice without a string",
        lambda end: ChoiceState(EMPTY, EMPTY, ((ord("["), end), (ord("{"), end))),
        {b"[": "end", b"{": "end"},
        [b'"', b"1", b"}"],
    ),
    (
        "entry",
        lambda end: Entry(full_match("ab|b|<x"), ((ord("<"), end),), "begin"),
        {b"": "begin", b"ab": 1, b"b": 1, b"<": "end"},
        [b"<x", b"a", b"ba"],
    ),
    (
        "entry of words with a mark that begins one of them",
        lambda end: Entry(
            word_slice(word_list(["ab", "<x"])), ((ord("<"), end),), None
        ),
        {b"ab": 1, b"<": "end"},
        [b"<x", b"a", b""],
    ),
    (
        "entry with an empty text",
        lambda _: Entry(full_match("(ab)*"), (), None),
        {b"ab": 1, b"abab": 1},
        [b"", b"a"],
    ),
    (
        "entry of marks alone",
        lambda end: Entry(EMPTY, ((ord("<"), end),), None),
        {b"<": "end"},
        [b"", b"a"],
    ),
    (
        "special token",
        lambda _: TokenId((((5, 5), (200, 300)), ((250, 260), (1 << 20, 1 << 20))), 0, 3),
        {
            spelling(token)[1:]: TokenRead(sets)
            for token, sets in {5: (0,), 200: (0,), 250: (0, 1), 260: (0, 1), 261: (0,),
                                300: (0,), 1 << 20: (1,)}.items()
        },
        [spelling(token)[1:] for token in (4, 6, 199, 301, (1 << 20) + 1)] + [b"\x00\x00\x80"],
    ),
    (
        "text",
        lambda _: Text(False, full_match("[a-f]x|[é-ü]|\x01")),
        {b"ax": 1, b"fx": 1, "é".encode(): 1, "ü".encode(): 1, b"\x01": 1},
        [b"gx", "è".encode(), "ý".encode(), b"\xc3", b"\x02"],
    ),
    (
        "string",
        lambda _: Text(True, full_match('[a-f"\\\\\x01]|[^\\x00-\\x7f]')),
        {b'a"': 1, '€"'.encode(): 1, b'\\""': 1, b'\\\\"': 1, b'\\u0001"': 1, b'\\u20AC"': 1},
        [b'g"', b'\x01"', b'"', b"a", b'""', b'\\u0067"', b'\\"'],
    ),
    (
        "names alone",
        lambda _: Text(True, names(EMPTY)),
        {
            b'name"': (number("name"), 0),
            b'n\\u0061me"': (number("name"), 0),
            b'names"': (number("names"), 0),
            b'q\\""': (number('q"'), 0),
        },
        [b'nam"', b'namesx"', b'q""', b'other"', b'"'],
    ),
    (
        "names outside ASCII",
        lambda _: Text(True, names(EMPTY, words=BEYOND)),
        {b'name"': (1, 0), 'é"'.encode(): (2, 0), b'\\u00e9"': (2, 0)},
        ['è"'.encode(), b'\\u00e8"', b'"'],
    ),
    (
        "names beside any other",
        lambda _: Text(True, names(ANYTHING)),
        {
            b'name"': (number("name"), 1),
            b'nam"': (0, 1),
            b'n\\u0061m"': (0, 1),
            b'namesx"': (0, 1),
            b'"': (0, 1),
        },
        [b'na\n"', b'name\\"'],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "accepted", "rejected"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES]
)
def test_places(
    key: Callable[[int], Key], accepted: dict[bytes, Hashable], rejected: list[bytes]
) -> None:
    leaves = LeafTable()
    end = leaves.state(End("end"))
    place = key(end)
    if isinstance(place, Padded):
        place = Padded(place.left, leaves.state(LiteralState(b"x", end)))
    state = leaves.state(place)
    assert {data: label_after(leaves, state, data) for data in accepted} == accepted
    assert [data for data in rejected if label_after(leaves, state, data) is not None] == []


@pytest.mark.parametrize(
    ("terms", "accepted", "rejected"),
    [
        ((NAME, IF), ["i", "if", "ify", "zebra"], ["", "1", "if1", "é"]),
        ((NAME, WIDE), ["a", "я", "яб", "日"], ["日日", "aя", "ё"]),
        ((IF, full_match("is")), ["if", "is"], ["i", "it", "isf"]),
        ((full_match("[^]+"), IF), ["if", "日", "\n", "\U0010ffff"], [""]),
    ],
)
def test_parallel_texts(
    terms: tuple[Regular, ...], accepted: list[str], rejected: list[str]
) -> None:
    leaves = LeafTable()
    start = parallel_start(terms, tuple(1 << ord(" ") for _ in terms))
    assert isinstance(start, Parallel)
    state = leaves.state(Text(False, start))
    read = {text: label_after(leaves, state, text.encode()) for text in (*accepted, *rejected)}
    assert [text for text, label in read.items() if label is None] == rejected
    whole = {text: [t for t in terms if matched(t, text)] for text in accepted}
    assert {text: list(getattr(read[text], "terms", ())) for text in accepted} == whole


def matched(term: Regular, text: str) -> bool:
    leaves = LeafTable()
    return label_after(leaves, leaves.state(Text(False, term)), text.encode()) == 1


@pytest.mark.parametrize(
    ("key", "trunk"),
    [
        (Text(True, names(ANYTHING)), Text(True, tagged((EMPTY, ANYTHING), named=True))),
        (Text(True, names(EMPTY)), None),
        (Spaced(3, "label"), None),
        (Text(False, word_slice(word_list(["abc", "abd"]))), None),
    ],
    ids=["open names", "closed names", "spaces", "words"],
)
def test_rows_that_differ_in_a_few_bytes_are_stored_as_differences(
    key: Key, trunk: Key | None
) -> None:
    leaves = LeafTable()
    state = leaves.state(key)
    leaves.build(state)
    base = 0
    if trunk is not None:
        other = leaves.state(trunk)
        leaves.build(other)
        base = int(leaves.rows.base[other])
        assert base != 0
    assert leaves.rows.base[state] == base
    assert 0 < leaves.rows.override_stop[state] - leaves.rows.override_start[state] <= 8


def test_a_row_is_built_once() -> None:
    leaves = LeafTable()
    state = leaves.state(Text(False, names()))
    leaves.build(state)
    rows, count = leaves.rows.base[state], leaves.count
    overrides = int(leaves.rows.override_start[state])
    leaves.build(state)
    assert (leaves.rows.base[state], leaves.count) == (rows, count)
    assert leaves.rows.override_start[state] == overrides
