"""Texts bounded by tokens, against their definition over all sequences of a few tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from maskwright import (
    BudgetError,
    Grammar,
    Matcher,
    Vocabulary,
    compile_structural_tag,
    compile_tools,
)
from maskwright.errors import InputError, StructuralTagError
from maskwright.grammar.tools.formats import tool_format
from tests.grammar.tools.test_tools import WEATHER
from tests.mask.compile.test_tags import tag_of
from tests.matching import EVERY_BYTE, allowed, matches, vocabulary

TOKENS = ("b", "bx", "x", "<", "e", "<e", "x<", "e!", "!")
VOCAB = vocabulary(*TOKENS, alphabet="bxe<!")
"""Its first tokens are b x e < !."""
ALL = tuple(sorted(set(TOKENS)))
LONGEST = 7


def thought(tokens: int, end: Any = "<e", **more: Any) -> Any:
    text = {"type": "any_text", "max_tokens": tokens, **more}
    return {"type": "tag", "begin": "b", "content": text, "end": end}


def one(end: Any = "<e") -> Any:
    return {"type": "tag", "begin": "b", "content": {"type": "exclude_token"}, "end": end}


def then(*formats: Any) -> Any:
    return {"type": "sequence", "elements": list(formats)}


END = {"type": "const_string", "value": "!"}

CASES: list[tuple[str, Any, tuple[str, ...], int, range]] = [
    # name, format, ends, max_tokens, how many characters it may have
    ("none", thought(0), ("<e",), 0, range(LONGEST)),
    ("one", thought(1), ("<e",), 1, range(LONGEST)),
    ("two", thought(2), ("<e",), 2, range(LONGEST)),
    ("two, of few characters", thought(2, max_chars=1), ("<e",), 2, range(2)),
    ("two ends", thought(2, ["<e", "xx"]), ("<e", "xx"), 2, range(LONGEST)),
    ("an end in the other", thought(1, ["<e", "x<e"]), ("<e", "x<e"), 1, range(LONGEST)),
    ("an end that overlaps itself", thought(2, "<<e"), ("<<e",), 2, range(LONGEST)),
    ("just one", one(), ("<e",), 1, range(1, LONGEST)),
    ("just one, two ends", one(["<e", "ee"]), ("<e", "ee"), 1, range(1, LONGEST)),
    ("just one, an end that overlaps itself", one("<<e"), ("<<e",), 1, range(1, LONGEST)),
]


def fits(sequence: tuple[str, ...], ends: tuple[str, ...], tokens: int, sizes: range) -> bool:
    """Whether the tokens spell `b`, a text, the first end and `!`, with few enough in the text."""
    text = "".join(sequence)
    if not (text.startswith("b") and text.endswith("!")):
        return False
    inside = text[1:-1]
    stops = [
        (stop, -len(end))
        for end in ends
        for stop in range(len(end), len(inside) + 1)
        if inside[:stop].endswith(end)
    ]
    if not stops or min(stops)[0] != len(inside):
        return False
    size = len(inside) + min(stops)[1]
    if size not in sizes:
        return False
    held = at = 0
    for token in sequence:
        held += at < 1 + size and at + len(token) > 1
        at += len(token)
    return held <= tokens


def may_fit(sequence: tuple[str, ...], ends: tuple[str, ...], tokens: int) -> bool:
    """Whether it isn't certain yet that the tokens can't fit."""
    text = "".join(sequence)
    if text[:1] not in ("", "b"):
        return False
    if any(end in text[1:] for end in ends):
        return not text.endswith("!")
    certain = next(
        at
        for at in range(1, len(text) + 2)
        if at > len(text) or any(end.startswith(text[at:]) for end in ends)
    )
    held = at = 0
    for token in sequence:
        held += at < certain and at + len(token) > 1 and certain > 1
        at += len(token)
    return held <= tokens


def texts(ends: tuple[str, ...], tokens: int, sizes: range) -> set[tuple[str, ...]]:
    """All sequences of up to `LONGEST` tokens that fit."""

    def longer(sequence: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if sequence and fits(sequence, ends, tokens, sizes):
            yield sequence
        if len(sequence) < LONGEST and may_fit(sequence, ends, tokens):
            for token in ALL:
                yield from longer((*sequence, token))

    return set(longer(()))


def id_of(token: str) -> int:
    return VOCAB.tokens.index(token.encode())


@pytest.mark.parametrize(
    ("format", "ends", "tokens", "sizes"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_masks_hold_what_the_definition_allows(
    format: Any, ends: tuple[str, ...], tokens: int, sizes: range
) -> None:
    grammar = compile_structural_tag(tag_of(then(format, END)), VOCAB)
    fitting = texts(ends, tokens, sizes)
    beginnings = {s[:n] for s in fitting for n in range(len(s) + 1)}
    seen = 0
    for beginning in sorted(beginnings):
        if len(beginning) > LONGEST - 4:  # an end of three tokens, and the `!`
            continue
        matcher = grammar.matcher()
        assert all(matcher.accept(id_of(token)) for token in beginning)
        expected = {token for token in ALL if (*beginning, token) in beginnings}
        assert spelled(matcher) - {""} == expected, beginning
        assert matcher.accepting is (beginning in fitting)
        refused = [token for token in ALL if token not in expected]
        assert not any(matcher.copy().accept(id_of(token)) for token in refused)
        if matcher.min_tokens:
            needed = matcher.min_tokens
            within = allowed(matcher, needed)
            assert within <= allowed(matcher)
            for token in within:
                following = matcher.copy()
                assert following.accept(token)
                assert following.min_tokens < needed
        seen += 1
    assert seen > 5


def test_one_token_alone_may_be_any() -> None:
    """The whole output: one token, of text or special; the rest of a character follows."""
    vocab = Vocabulary(
        (b"a", b"ab", b"\xc3", b"\xa9", b"<|x|>", b"<|y|>", b""), special=[4, 5], eos=6
    )
    grammar = compile_structural_tag(
        tag_of({"type": "exclude_token", "exclude_tokens": ["<|y|>"]}), vocab
    )
    assert allowed(grammar.matcher()) == {0, 1, 2, 4}
    for token, following in ((0, {6}), (1, {6}), (4, {6}), (2, {3})):
        matcher = grammar.matcher()
        assert matcher.accept(token)
        assert allowed(matcher) == following
    assert matcher.accept(3)
    assert allowed(matcher) == {6}


@pytest.mark.parametrize("name", ["any_text", "any_tokens"])
def test_minus_one_is_no_bound(name: str) -> None:
    format = {"type": name, "max_tokens": -1}
    grammar = compile_structural_tag(tag_of(format), VOCAB)
    unbounded = compile_structural_tag(tag_of({"type": name}), VOCAB)
    for text in ("", "b" * 99):
        assert matches(grammar, text)
        assert matches(unbounded, text)
    beside = then({"type": "regex", "pattern": "b*"}, format)  # where none could be counted
    assert matches(compile_structural_tag(tag_of(beside), VOCAB), "bx")
    if name == "any_text":
        few = compile_structural_tag(tag_of({**format, "max_chars": -1}), VOCAB)
        assert matches(few, "b" * 99)
    with pytest.raises(StructuralTagError, match="must be a count"):
        compile_structural_tag(tag_of({"type": name, "max_tokens": -2}), VOCAB)


def test_a_budget_of_a_large_bound_is_kept() -> None:
    grammar = compile_structural_tag(tag_of(then(thought(1000), END)), VOCAB)
    matcher = grammar.matcher()
    assert matcher.accept(id_of("b"))
    for left in range(6, 0, -1):
        token = max(allowed(matcher, left))
        assert matcher.accept(token)
        if matcher.complete:
            break
    assert matcher.complete
    with pytest.raises(BudgetError):
        allowed(grammar.matcher(), 2)


def test_a_large_bound_makes_no_more_states() -> None:
    def states(bound: int) -> int:
        grammar = compile_structural_tag(tag_of(then(thought(bound), END)), VOCAB)
        matcher = grammar.matcher()
        assert matcher.accept(id_of("b"))
        for _ in range(bound):
            assert matcher.accept(id_of("x"))
        assert spelled(matcher) == {"<", "<e"}
        return len(grammar.recognizer.shared.positions)

    assert states(200) == states(3)


def spelled(matcher: Matcher) -> set[str]:
    return {VOCAB.tokens[token].decode() for token in allowed(matcher)}


def test_rolling_back_and_forking_count_again() -> None:
    grammar = compile_structural_tag(tag_of(then(thought(2), END)), VOCAB)
    matcher = grammar.matcher()
    for token in ("b", "x", "x"):
        assert matcher.accept(id_of(token))
    closed = spelled(matcher)
    assert closed == {"<", "<e"}
    twin = matcher.copy()
    matcher.rollback(1)
    assert "x" in spelled(matcher)
    assert spelled(twin) == closed
    assert matcher.accept(id_of("x"))
    assert spelled(matcher) == closed
    assert matcher.row == twin.row
    assert twin.forced_tokens() == [id_of("<e"), VOCAB.tokens.index(b"!")]
    twin.reset()
    assert twin.accept(id_of("bx"))
    assert twin.accept(id_of("x"))
    assert spelled(twin) == closed
    assert not twin.accept(id_of("x<"))


def test_each_section_counts_from_its_own_beginning() -> None:
    again = {"type": "star", "content": thought(1)}
    vocab = vocabulary("<eb", "<ebx", "x<ebx", alphabet="bxe<!")
    grammar = compile_structural_tag(tag_of(then(again, END)), vocab)

    def read(*tokens: str) -> bool:
        matcher = grammar.matcher()
        return all(matcher.accept(vocab.tokens.index(token.encode())) for token in tokens)

    assert read("b", "x", "<eb", "x", "<eb", "<", "e", "!")
    assert read("b", "x", "<ebx", "<eb", "x<ebx", "<", "e", "!")
    assert not read("b", "x", "<ebx", "x")
    assert not read("b", "x", "x<ebx")
    assert not read("b", "x", "<eb", "x", "x")


def test_a_character_that_is_begun_is_completed() -> None:
    vocab = vocabulary("é<", b"\xa9<", b"\xa9x", b"\xe2\x82", b"\x82\xac", b"\x82\xac<")
    grammar = compile_structural_tag(tag_of(thought(2, "<e")), vocab)
    matcher = grammar.matcher()
    for data in (b"b", b"x", b"\xc3"):
        assert matcher.accept(vocab.tokens.index(data))
    held = {vocab.tokens[token] for token in allowed(matcher)}
    assert held == {bytes([byte]) for byte in range(0x80, 0xC0)} | {b"\xa9<"}
    assert held == {vocab.tokens[token] for token in allowed(matcher, matcher.min_tokens + 1)}
    assert not matcher.copy().accept(vocab.tokens.index(b"\xa9x"))
    through = matcher.copy()
    assert through.accept(vocab.tokens.index(b"\xa9<"))
    assert {vocab.tokens[token] for token in allowed(through)} == {b"e"}
    by_bytes = matcher.copy()
    assert by_bytes.accept_bytes(b"\xa9x") == 1
    by_bytes.rollback(1)
    assert by_bytes.accept_bytes(b"\xa9<e!") == 3
    assert by_bytes.accepting
    by_bytes.rollback(1)
    assert {vocab.tokens[token] for token in allowed(by_bytes)} == held
    assert matcher.accept(vocab.tokens.index(b"\xa9"))
    assert {vocab.tokens[token] for token in allowed(matcher)} == {b"<"}
    deep = grammar.matcher()
    for data in (b"b", b"x", b"\xe2"):
        assert deep.accept(vocab.tokens.index(data))
    assert deep.accept(vocab.tokens.index(b"\x82"))
    assert b"\xac" in {vocab.tokens[token] for token in allowed(deep)}
    assert b"<" not in {vocab.tokens[token] for token in allowed(deep)}


def test_text_to_the_end_of_everything_or_to_a_special_token() -> None:
    special = Vocabulary((*EVERY_BYTE.tokens, b"</think>"), eos=256, special={257: "</think>"})

    def closed(format: Any, *tokens: int) -> set[int]:
        matcher = compile_structural_tag(tag_of(format), special).matcher()
        assert all(matcher.accept(token) for token in tokens)
        return allowed(matcher)

    text = {"type": "any_text", "max_tokens": 2}
    assert closed(text, 0x41, 0x42) == {256}
    section = {"type": "tag", "begin": "", "content": text, "end": "</think>"}
    assert closed(section, 0x41, 0x42) == {257}
    assert len(closed(section, 0x41)) > 100


def test_special_tokens_of_a_text_count_too() -> None:
    names = {257: "<|a|>", 258: "</think>"}
    special = Vocabulary((*EVERY_BYTE.tokens, b"<|a|>", b"</think>"), eos=256, special=names)
    tokens = {"type": "any_tokens", "max_tokens": 2}
    section = {"type": "tag", "begin": "b", "content": tokens, "end": "</think>"}
    grammar = compile_structural_tag(tag_of(section), special)
    for begun in ([0x78, 257], [257, 257], [257, 0x78], [0x78, 0x78]):
        matcher = grammar.matcher()
        assert matcher.accept(ord("b"))
        assert {257, 258, 0x78} <= allowed(matcher)
        assert matcher.accept(begun[0])
        assert {257, 258, 0x78} <= allowed(matcher)
        assert matcher.accept(begun[1])
        assert allowed(matcher) == {258}
        assert matcher.accept(258)
        assert matcher.complete


@pytest.mark.parametrize("reasoning", ["section", "begun"])
def test_reasoning_of_so_many_tokens(reasoning: Any) -> None:
    options: Any = {"reasoning": reasoning, "reasoning_tokens": 5}
    grammar = compile_tools([WEATHER], "auto", EVERY_BYTE, format="hermes", **options)
    matcher = grammar.matcher()
    if reasoning == "section":
        assert all(matcher.accept(byte) for byte in b"<think>")
    assert all(matcher.accept(byte) for byte in b"I rec")
    assert allowed(matcher) == {ord("<")}
    assert matcher.forced_tokens() == list(b"</think>")
    with pytest.raises(InputError, match="at least 0"):
        compile_tools([WEATHER], "auto", EVERY_BYTE, reasoning=reasoning, reasoning_tokens=-1)


@pytest.mark.parametrize("format", ["hermes", "mistral_v11", "harmony"])
def test_reasoning_of_no_tokens(format: str) -> None:
    """The section ends at once; none that may be left out has a text."""
    marks = tool_format(format).reasoning
    assert marks is not None
    begin, end = marks
    answer = "".join(tool_format(format).text).replace("$text", "So.")
    texts: dict[Any, tuple[list[str], list[str]]] = {
        "section": ([begin + end + answer], [begin + "x" + end + answer]),
        "begun": ([end + answer], ["x" + end + answer]),
        "optional": ([begin + end + answer, answer], [begin + "x" + end + answer]),
    }
    for reasoning, (accepted, rejected) in texts.items():
        options: Any = {"reasoning": reasoning, "reasoning_tokens": 0, "format": format}
        grammar = compile_tools([WEATHER], "auto", EVERY_BYTE, **options)
        read = [text for text in accepted + rejected if matches(grammar, text)]
        assert read == accepted, reasoning
        matcher = grammar.matcher()
        assert matcher.accept_bytes(accepted[0].encode()) == len(accepted[0].encode())
        thoughts = [e for e in matcher.events(final=True) if getattr(e, "name", "") == "reasoning"]
        assert [getattr(each, "text", "") for each in thoughts] == ["", ""]


def test_captures_are_the_same_however_the_text_is_cut() -> None:
    grammar = compile_structural_tag(tag_of(then(thought(3), END)), VOCAB)

    def reported(*tokens: str) -> list[Any]:
        matcher = grammar.matcher()
        found: list[Any] = []
        for token in tokens:
            assert matcher.accept(id_of(token))
            found += matcher.events()
        return [event for event in found if hasattr(event, "text")][-1:]

    assert reported("bx", "x<", "e!") == reported("b", "x", "x", "<", "e", "!")


REFUSED: list[tuple[str, Any, str]] = [
    ("behind a pattern", then({"type": "regex", "pattern": "x*"}, thought(2)), "/elements/1"),
    ("before a text", then({"type": "any_text", "max_tokens": 2}, END), "/elements/0"),
    (
        "again and again",
        {"type": "star", "content": {"type": "any_text", "max_tokens": 2}},
        "/content",
    ),
    ("an end may be excluded", thought(2, "e", excludes=["xe"]), "/content"),
]


@pytest.mark.parametrize(("format", "place"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_cannot_be_counted_is_refused(format: Any, place: str) -> None:
    with pytest.raises(StructuralTagError, match="max_tokens") as refused:
        compile_structural_tag(tag_of(format), VOCAB)
    assert place in refused.value.pointer


def test_other_grammars_count_nothing() -> None:
    grammar: Grammar = compile_structural_tag(tag_of(END), VOCAB)
    assert type(grammar.matcher()) is Matcher
    assert matches(grammar, "!")
