"""Strings by their values: escapes smuggle nothing in, and every byte sequence is real UTF-8."""

from __future__ import annotations

from itertools import pairwise
from multiprocessing import get_context
from random import Random
from re import fullmatch
from typing import Any

import numpy as np
import pytest

from maskwright import (
    LimitError,
    Limits,
    RegexError,
    UnsatisfiableSchemaError,
    compile_json_schema,
    compile_regex,
)
from maskwright.automaton.leaf.keys import Text
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.charset import of
from maskwright.grammar.regular.derivative import place
from maskwright.grammar.regular.terms import (
    Scale,
    alt,
    complement,
    intersection,
    length,
    weighed,
    words,
)
from maskwright.limits import Work
from maskwright.mask import Grammar
from maskwright.mask.ready_rows import strings
from maskwright.mask.ready_rows.strings import StringRows
from tests.matching import EVERY_BYTE, after, allowed, matches, spelled, vocabulary
from tests.properties.patterns import counted_pattern
from tests.walks.samples import sampled

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"ab": {"const": 1}, "secret": False},
    "additionalProperties": {"const": 2},
}
ENUM: dict[str, Any] = {"enum": ["a", "é", "😀", "\n", '"']}

VALUES: list[tuple[Any, list[str], list[str]]] = [
    (
        CLOSED,
        [r'{"ab":1}', r'{"\u0061b":1}', r'{"a\u0062":1}', r'{"ac":2}', r'{"\u0061c":2}'],
        [r'{"\u0061b":2}', r'{"\u0073ecret":2}', r'{"secre\u0074":2}', r'{"ab":1,"\u0061b":1}'],
    ),
    (
        ENUM,
        ['"a"', r'"\u0061"', '"é"', r'"\u00e9"', r'"\u00E9"', '"😀"', r'"\uD83d\ude00"'],
        ['"b"', r'"\u0062"', r'"\ud83d"', r'"\ude00"', r'"\ud83d\ude01"', r'"\ud83de"', '"\n"'],
    ),
    (ENUM, [r'"\n"', r'"\u000a"', r'"\""', r'"\u0022"'], ['"""', r'"\r"', r'"\'"']),
    (
        {"type": "string"},
        [r'"\/"', '"/"', r'"\b\f\r\t\\"', '"\x7f"', '"\ue000"', '"\U0010ffff"', r'"\udbff\udfff"'],
        ['"\x1f"', r'"\x41"', r'"\u12"', r'"\u00g0"', r'"\ud800"', r'"\ud800\u0041"'],
    ),
    (
        {"type": "string", "minLength": 1, "maxLength": 1},
        ['"é"', '"😀"', r'"\ud83d\ude00"', r'"\n"', r'"\u0041"'],
        ['""', '"ab"', '"e\u0301"', r'"\ud83d\ude00a"', r'"\n\n"'],
    ),
    (
        {"not": {"const": "ab"}, "type": "string"},
        ['"a"', r'"\u0061c"', '"abc"'],
        ['"ab"', r'"\u0061b"', r'"a\u0062"', r'"\u0061\u0062"'],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "inside", "outside"), VALUES, ids=lambda v: repr(v)[:30])
def test_spellings(schema: Any, inside: list[str], outside: list[str]) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE)
    assert [text for text in inside if not matches(grammar, text)] == []
    assert [text for text in outside if matches(grammar, text)] == []


NOT_UTF8 = [
    b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80",
    b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80",
    b"\xff", b"\xc3a", b"\xe2\x82a", b"\xf0\x9f\x98a",
]  # fmt: skip


@pytest.mark.parametrize("data", NOT_UTF8, ids=bytes.hex)
def test_what_is_not_utf8(data: bytes) -> None:
    assert after(compile_json_schema({"type": "string"}, EVERY_BYTE), b'"' + data) is None
    assert after(compile_json_schema({"pattern": "^[^x]*$"}, EVERY_BYTE), b'"' + data) is None
    assert after(compile_json_schema({}, EVERY_BYTE), b'{"' + data) is None
    assert after(compile_regex("[^x]*", EVERY_BYTE), data) is None


@pytest.mark.parametrize("point", [0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF])
def test_the_edges_of_utf8(point: int) -> None:
    grammar = compile_regex(f"\\u{{{point:x}}}", EVERY_BYTE)
    assert matches(grammar, chr(point))
    for other in (point - 1, point + 1):
        if other <= 0x10FFFF and not 0xD800 <= other < 0xE000:
            assert not matches(grammar, chr(other))
    assert matches(compile_json_schema({"type": "string"}, EVERY_BYTE), f'"{chr(point)}"')


def test_tokens_that_end_inside_a_character() -> None:
    euro, pound = "€".encode(), "£".encode()
    vocab = vocabulary(b'"' + euro[:1], euro[1:], euro[:2], euro[2:] + b'"', pound, alphabet=b'"a')
    matcher = compile_json_schema({"const": "€"}, vocab).matcher()
    assert spelled(matcher) == {b'"', b'"' + euro[:1]}
    assert matcher.accept(vocab.tokens.index(b'"' + euro[:1]))
    assert spelled(matcher) == {euro[1:]}, "the rest of the character, and no quote within it"
    assert matcher.accept(vocab.tokens.index(euro[1:]))
    assert spelled(matcher) == {b'"'}


def test_no_character_is_begun_that_can_not_end() -> None:
    matcher = after(compile_json_schema({"type": "string", "pattern": "^[à-ï]$"}, EVERY_BYTE), '"')
    assert matcher is not None
    assert spelled(matcher) == {b"\xc3", b"\\"}
    assert matcher.accept(0xC3)
    assert spelled(matcher) == {bytes([byte]) for byte in range(0xA0, 0xB0)}


@pytest.mark.parametrize(
    "schema",
    [
        {"const": "\ud800"},
        {"pattern": "^a\\ud800$", "type": "string"},
        {"pattern": "^[\\udc00-\\udfff]$", "type": "string"},
        {"type": "object", "required": ["a\udfff"]},
    ],
    ids=ascii,
)
def test_half_a_surrogate_pair_is_no_text(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        compile_json_schema(schema, EVERY_BYTE)
    beside = compile_json_schema({"anyOf": [schema, {"const": 1}]}, EVERY_BYTE)
    assert matches(beside, "1")


def test_nor_is_a_pattern_of_it() -> None:
    with pytest.raises(RegexError):
        compile_regex("a\ud800", EVERY_BYTE)


_RANDOM = Random(7)
_LETTERS = ["a", "b", "A", "1", ".", "-", " ", "é", "ü", "א", "日", "l", "·", "\\n", "\\u0061"]
PIECES = vocabulary(
    *{"".join(_RANDOM.choices(_LETTERS[:9], k=_RANDOM.randint(2, 6))) for _ in range(150)},
    *{"".join(_RANDOM.choices(_LETTERS, k=_RANDOM.randint(2, 4))) for _ in range(100)},
    *{"".join(_RANDOM.choices("ab1.", k=_RANDOM.randint(1, 3))) + '"' for _ in range(20)},
    *["é".encode()[1:] + b"a", b"a" + "日".encode()[:2], "aaaaaaaaaaaa", "bbbbbbbb", "ü.ü.ü"],
    *["a b a b a", "b a b ", " a a", 'a a a a"'],
)
COUNTERS: list[dict[str, Any]] = [
    {"pattern": pattern}
    for pattern in (
        "^.{0,40}a.{0,30}b.{0,3}$",
        "(.*a.{7}){2}",
        r"^\p{L}{1,20}(\p{Lu}|\p{N}){3,9}$",
        r"(\p{L}+\s){3}",
        r"^(\w{1,9}\.){1,4}\w{2,5}$",
        "^((a|ab|b){1,9}1{0,7}){1,6}$",
        "^a{2,30}b$",
        "^[aé]{4,}-{2}[^-]{1,12}$",
    )
] + [
    {"format": "idn-hostname"},
    {"format": "hostname"},
    {"pattern": "a.{3}b", "maxLength": 12},
    {"pattern": "^[ab]{1,20}1{2}$", "minLength": 6, "maxLength": 14},
    {"anyOf": [{"pattern": "^a{1,9}$", "maxLength": 7}, {"format": "hostname"}]},
    {"oneOf": [{"pattern": each} for each in ("a.*b", "^[ab]+$", "1", "^.{2,5}$", "b.*1")]},
]
DRAWN = [{"pattern": f"^{counted_pattern(Random(n), 'ab1', 4 + n % 4)}$"} for n in range(25)]


@pytest.mark.parametrize("schema", [*COUNTERS, *sampled(DRAWN, 8)], ids=str)
def test_rows_hold_the_tokens_whose_bytes_the_machine_reads(schema: dict[str, Any]) -> None:
    """Ready rows of counters and of weights are found without the states that the machine goes
    through byte by byte; those that it reads are right by other tests."""
    compare(compile_json_schema({"type": "string", **schema}, PIECES), seed=3)


WORDS = r"^$|^(?:\S+\s+){0,9}\S+$"
BOUNDED: list[tuple[dict[str, Any], str]] = [
    *(({"pattern": WORDS, "maxLength": most}, "a bb") for most in (4, 9, 24, 25, 26, 29, 70)),
    *(
        ({"pattern": WORDS, "maxLength": most}, "a " * words)
        for most in (32, 90)
        for words in (5, 7)
    ),
    ({"pattern": WORDS, "minLength": 1, "maxLength": 40}, ""),
    ({"pattern": WORDS, "minLength": 20, "maxLength": 40}, "a bb"),
    ({"pattern": "^(?:[ab]+[1.]){3,40}$", "maxLength": 50}, "a1a1a1"),
    ({"pattern": "^(?:[ab]{2,30}|-){0,9}$", "maxLength": 60}, "ab-"),
    ({"pattern": "^(?:ab){0,40}$", "maxLength": 41}, "abab"),
    ({"pattern": "^(?:a|bb){0,11}1$", "maxLength": 13}, ""),  # a token may have twelve times `a`
    ({"pattern": "^(?:a+b){20,30}$", "maxLength": 45}, "abab"),  # each word has little room
    *(({"maxLength": most}, "aé") for most in (3, 12, 13, 14, 15, 16, 30)),
    ({"minLength": 3, "maxLength": 40}, ""),
    ({"minLength": 30, "maxLength": 31}, "a"),
    ({"anyOf": [{"maxLength": 30}, {"pattern": WORDS}]}, "a"),
]


@pytest.mark.parametrize(("schema", "begin"), BOUNDED, ids=str)
def test_rows_of_places_far_from_a_bound_and_near_it(schema: dict[str, Any], begin: str) -> None:
    """Far from it, places share rows: as far as the longest token reaches, and an end after it."""
    whole = {"type": "array", "items": {"type": "string", **schema}}
    grammar = compile_json_schema(whole, PIECES, whitespace="compact")
    compare(grammar, seed=5, texts=3, begin=f'["{begin}')


@pytest.mark.parametrize(("schema", "begin"), BOUNDED[::3], ids=str)
def test_budgets_of_places_far_from_a_bound_and_near_it(schema: dict[str, Any], begin: str) -> None:
    whole = {"type": "array", "items": {"type": "string", **schema}, "minItems": 2}
    matcher = after(compile_json_schema(whole, PIECES, whitespace="compact"), f'["{begin}')
    assert matcher is not None
    random = Random(8)
    for _ in range(4):
        least, left = matcher.min_tokens, dict[int, int]()
        for token in allowed(matcher):
            fork = matcher.copy()
            assert fork.accept(token)
            left[token] = fork.min_tokens
        for budget in (least, least + 1, least + 4):
            within = {token for token, needed in left.items() if needed < budget}
            assert allowed(matcher, budget) == within
        assert matcher.accept(random.choice(sorted(left)))


TEXTS = [
    *(each["pattern"].strip("^$") for each in COUNTERS if "pattern" in each),
    r"[^.]{3,9}\.[^a]*",
    r"(\w|\\|\"|-){2,30}",
    r"(\\u0061|[é-ü.\n-]{1,9}){1,5}1",
    r"[^b]{1,5}(b|[^a-z]{2}日)?",
]
DRAWN_TEXTS = [each["pattern"].strip("^$") for each in DRAWN]


@pytest.mark.parametrize("pattern", [*TEXTS, *sampled(DRAWN_TEXTS, 8, seed=1)])
def test_rows_of_plain_text(pattern: str) -> None:
    """Quotes and backslashes are characters as any others there."""
    compare(compile_regex(pattern, PIECES), seed=4)


def test_host_names_whose_labels_are_nearly_full() -> None:
    """A token may end a label and begin another, and begin the dot between them."""
    grammar = compile_json_schema({"type": "string", "format": "idn-hostname"}, PIECES)
    for seed in range(8):
        compare(grammar, seed, texts=3, begin='"' + "aü-b" * 2 + "é" * (seed + 1))


def compare(grammar: Grammar, seed: int, texts: int = 6, begin: str = "") -> None:
    """Compare the masks along random texts with what the machine reads byte by byte."""
    random = Random(seed)
    for _ in range(texts):
        matcher = grammar.matcher()
        assert matcher.accept_bytes(begin.encode()) == len(begin.encode())
        for _ in range(14):
            here = allowed(matcher)
            for token, data in enumerate(PIECES.tokens):
                if data:
                    fork = matcher.copy()
                    assert (fork.accept_bytes(data) == len(data)) == (token in here), data
            assert allowed(matcher, 500) == here
            longer = [t for t in here if b'"' not in PIECES.tokens[t] and len(PIECES.tokens[t]) > 1]
            token = random.choice(longer or sorted(here))
            if not PIECES.tokens[token]:
                break
            assert matcher.accept(token)


def test_rows_whose_lengths_were_not_measured_are_no_others() -> None:
    """A pattern without bounds and the same pattern near its last character share an automaton."""
    open_ended = compile_json_schema({"type": "string", "pattern": "^[ab]+1?$"}, PIECES)
    bounded = compile_json_schema(
        {"type": "string", "pattern": "^[ab]+1?$", "maxLength": 5}, PIECES
    )
    for grammar, most in ((open_ended, 12), (bounded, 2)):
        matcher = after(grammar, '"aab')
        assert matcher is not None
        longest = max(len(text) for text in spelled(matcher) if set(text) <= set(b"ab"))
        assert longest <= most
    matcher = after(bounded, '"aab')
    assert matcher is not None
    assert b"aaaaaaaaaaaa" not in spelled(matcher)


FEW_STEPS: list[tuple[dict[str, Any], str]] = [
    ({"pattern": "^.{0,1000}a.{0,1000}b.{0,12}$"}, "xyab" * 40),
    ({"pattern": "(.*a.{300}){3}"}, "baab" * 40),
    ({"pattern": r"^\p{L}{1,200}(\p{Lu}|\p{N}){3,90}$"}, "aBé" * 30 + "AB12" * 10),
    ({"pattern": r"(\p{L}+\s){500}"}, "ab é " * 40),
    ({"pattern": r"^(\w{1,63}\.){1,100}\w{2,20}$"}, "ab.a." * 30),
    ({"format": "idn-hostname"}, "aü-b" * 4 + ".日.ab" + "a" * 30),
    ({"format": "regex"}, "(a[b-c]{2,3}|(?:d*)){4}[^e]"),
]


@pytest.mark.parametrize(("schema", "text"), FEW_STEPS, ids=lambda value: str(value)[:40])
def test_masks_under_counters_take_few_steps(schema: dict[str, Any], text: str) -> None:
    """Each mask along a text, with a budget, stays within a fraction of what a mask may take."""
    limits = Limits(work=100_000, leaf_states=20_000)
    known = compile_json_schema({"type": "string", **schema}, PIECES)  # the language alone
    matcher = compile_json_schema({"type": "string", **schema}, PIECES, limits=limits).matcher()
    assert matcher.recognizer.shared is not known.recognizer.shared
    out = np.zeros(PIECES.words, np.int32)
    assert matcher.accept_bytes(b'"') == 1
    for character in text:
        matcher.fill_mask(out, 10_000)
        assert matcher.accept_bytes(character.encode()) == len(character.encode())


def test_listed_words_beside_a_pattern_take_no_states_of_it() -> None:
    listed = [f"{number:b}".replace("0", "a") for number in range(300)]
    work = Work(Limits())
    with work:
        term = alt(words(listed), full_match("b[ab]*1"))
        row = StringRows(PIECES).ready(0, [Text(True, term)])
    assert work.budget - work.until_look < 200
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    for token, data in enumerate(PIECES.tokens):
        text = data.decode(errors="replace")
        if text and set(text) <= set("ab1"):
            begins = any(word.startswith(text) for word in listed)
            assert bits[token] == (begins or fullmatch("b[ab]*1?", text) is not None), text


def test_rows_of_all_lengths_are_found_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = StringRows(PIECES)
    expected = [rows.ready(0, [Text(True, length(0, most))]) for most in (1, 3, 5, 40, 90)]
    rows = StringRows(PIECES)
    rows.find_lengths()
    monkeypatch.setattr(strings, "packed", None)
    for most, row in zip((1, 3, 5, 40, 90), expected, strict=True):
        assert (rows.ready(0, [Text(True, length(0, most))]) == row).all()


FEW_TEXT_STEPS = [
    (r"\p{L}{1,200}(\p{Lu}|\p{N}){3,90}", "aBé" * 30 + "AB12" * 10),
    (r"(\p{L}+\s){500}", "ab é " * 40),
    (r"([^.]{1,63}[.é]){1,100}", "ab.aé" * 40),
]


@pytest.mark.parametrize(("pattern", "text"), FEW_TEXT_STEPS)
def test_masks_of_counted_text_take_few_steps(pattern: str, text: str) -> None:
    """They need no states for the characters of each token at each place."""
    limits = Limits(work=100_000, leaf_states=6_000)
    matcher = compile_regex(pattern, PIECES, limits=limits).matcher()
    out = np.zeros(PIECES.words, np.int32)
    for character in text:
        matcher.fill_mask(out, 10_000)
        assert matcher.accept_bytes(character.encode()) == len(character.encode())


def walks_of_bounds() -> list[list[str]]:
    """The walks over one automaton for each of eight length bounds, one after another."""
    walks: list[str] = []
    for name in ("walk_string", "walk_room"):
        walk: Any = getattr(strings, name)

        def counted(*arguments: Any, name: str = name, walk: Any = walk) -> Any:
            walks.append(name)
            return walk(*arguments)

        setattr(strings, name, counted)
    rows = StringRows(PIECES)
    found: list[list[str]] = []
    for most in range(2, 10):
        walks.clear()
        term = full_match("[ab]{1,30}")
        rows.ready(0, [Text(inside=True, term=intersection(term, length(0, most)))])
        found.append(walks.copy())
    return found


def test_bounds_of_one_automaton_share_what_its_tokens_need() -> None:
    """Two walks, one of which finds what each token needs, serve all bounds. In a process of its
    own: what other tests have explored changes what is left to walk."""
    with get_context("spawn").Pool(1) as pool:
        first, *others = pool.apply(walks_of_bounds)
    assert first == ["walk_string", "walk_room"]
    assert others == [[]] * 7


def test_what_a_product_of_patterns_takes_is_counted() -> None:
    pairs = zip("abcdefghijkl", "bcdefghijklm", strict=True)
    options = [{"pattern": f"{one}.*{other}"} for one, other in pairs]
    schema = {"type": "string", "oneOf": options}
    with pytest.raises(LimitError, match="steps"):
        walk(compile_json_schema(schema, PIECES, limits=Limits(work=300)).matcher())


def walk(matcher: Any) -> None:
    out = np.zeros(PIECES.words, np.int32)
    for character in '"acegik':
        matcher.fill_mask(out, 1_000)
        assert matcher.accept_bytes(character.encode())


def test_a_row_that_was_abandoned_is_found_later() -> None:
    """Within its limits, from what the rows that exceeded them have left."""
    vocab = vocabulary("aé", "é.a", "bü", "yya", "aaabb", alphabet='ab."xyéü')
    core = full_match("(?:[aé]{3}[bü]{2}(?:x|yy)){1,40}(?:\\.[aébü]{2,9}(?:x|yy)){0,3}")
    term = weighed(core, 60, Scale(most=60, beyond=5, between=of(".")))
    keys = [Text(inside=True, term=term)]
    rows = StringRows(vocab)
    found = None
    abandoned = 0
    for work in range(20, 20_000, 20):
        try:
            with Work(Limits(work=work)):
                found = rows.ready(0, keys)
                break
        except LimitError:
            abandoned += 1
    assert abandoned > 5
    assert found is not None
    assert found.tolist() == StringRows(vocab).ready(0, keys).tolist()
    held = {text for at, text in enumerate(vocab.tokens) if found[at >> 5] >> (at & 31) & 1}
    assert held == {b"a", "é".encode()[:1], "aé".encode(), b"aaabb"}


@pytest.mark.parametrize(
    ("text", "offered"),
    [(b'"\\u', b"0"), (b'"\\u00', b"6"), (b'"\\u006', b"1"), (b'"b', b""), (b'"', b"\\a")],
)
def test_a_token_within_a_character_leaves_room_for_the_rest(text: bytes, offered: bytes) -> None:
    """The character that it begins takes room too, though the token doesn't complete it."""
    drawn = {"type": "string", "pattern": "a", "maxLength": 1}
    matcher = after(compile_json_schema(drawn, EVERY_BYTE), text)
    assert (b"" if matcher is None else bytes(sorted(allowed(matcher)))) == offered


def test_a_row_of_a_long_pattern_explores_what_its_tokens_reach() -> None:
    pattern = full_match("".join(f"[{one}{other}]" for one, other in pairwise("abcdefgh" * 8)))
    term = intersection(pattern, complement(full_match(".*aaa.*")))
    StringRows(PIECES).ready(0, [Text(inside=True, term=term)])
    automaton, _ = place(term)
    assert 0 < len(automaton.found) < 24
