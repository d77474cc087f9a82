"""Reasoning sections at the beginning of free answers, cut anywhere."""

from __future__ import annotations

import asyncio

import pytest

from maskwright.server.answer.parts import (
    CallBegun,
    Part,
    Reasoning,
    ReasoningTokens,
    TextPart,
    ThinkingMarks,
    ThinkingReader,
    TrimmedReader,
    WordReader,
    thinking_marks_of,
)

MARKS = ThinkingMarks("<think>", "</think>")

CASES = [
    ("<think>\nHm. </thin\n\n</think>\n\nYes\n", False, "Hm. </thin", "Yes\n"),
    ("\n<think>a</think>b<think>c</think>", False, "a", "b<think>c</think>"),
    ("<think></think>b", False, "", "b"),
    ("<think>\n\n</think>\n\n", False, "", ""),
    ("a\n\nb</think>\nc", True, "a\n\nb", "c"),
    ("<think>never ended\n</th", False, "never ended\n</th", ""),
    ("<thing> is", False, "", "<thing> is"),
    ("  no", False, "", "  no"),
    ("<thi", False, "", "<thi"),
    ("", False, "", ""),
    ("", True, "", ""),
]


def read(text: str, size: int, *, begun: bool) -> list[Part]:
    async def all_parts() -> list[Part]:
        reader = ThinkingReader(WordReader(), MARKS, begun=begun)
        parts: list[Part] = []
        for at in range(0, len(text), size):
            parts += await reader.read(text[at : at + size], (), final=False)
        return parts + await reader.read("", (), final=True)

    return asyncio.run(all_parts())


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(("text", "begun", "reasoning", "words"), CASES)
def test_sections(text: str, begun: bool, reasoning: str, words: str, size: int) -> None:
    parts = read(text, size, begun=begun)
    assert "".join(part.text for part in parts if isinstance(part, Reasoning)) == reasoning
    said = [part for part in parts if isinstance(part, TextPart)]
    assert "".join(part.text for part in said) == words
    assert all(text.startswith(part.text, part.at) for part in said)


def test_text_is_reported_as_soon_as_it_is_certain() -> None:
    async def first() -> list[Part]:
        reader = ThinkingReader(WordReader(), MARKS, begun=False)
        await reader.read("<think>", (), final=False)
        return await reader.read("so <b", (), final=False)

    assert asyncio.run(first()) == [Reasoning("so <b")]


def test_a_call_ends_what_is_held_back() -> None:
    class Calling:
        async def read(self, text: str, token_ids: object, *, final: bool) -> list[Part]:
            return [TextPart("<th"), CallBegun(0, "call_1", "f")]

    reader = ThinkingReader(Calling(), MARKS, begun=False)
    parts = asyncio.run(reader.read("", (), final=False))
    assert parts == [TextPart("<th"), CallBegun(0, "call_1", "f")]


def test_marks_are_known_from_the_template() -> None:
    assert thinking_marks_of("a <think>\n</think> b") == MARKS
    assert thinking_marks_of("[THINK]x[/THINK]") == ThinkingMarks("[THINK]", "[/THINK]")
    assert thinking_marks_of("I think") is None


TOKENS = [
    b"<think>",
    b"\n",
    b"ab",
    b"c</",
    b"think>",
    b"d",
    "é".encode()[:1],
    "é".encode()[1:],
    b"",
]


@pytest.mark.parametrize(
    ("tokens", "reasoning", "count"),
    [
        ([0, 1, 2, 2, 3, 4, 5], "ababc", 3),
        ([0, 2, 2, 1, 3, 4, 5], "abab\nc", 4),
        ([2, 6, 7, 3, 4, 5], "abéc", 4),  # both tokens of a character
        ([1, 0, 2], "ab", 1),
        ([0, 1], "", 0),
        ([2, 5, 8], "", 0),
        ([0, 2, 8], "ab", 1),
    ],
)
def test_tokens_of_reasoning(tokens: list[int], reasoning: str, count: int) -> None:
    whole = ReasoningTokens(TOKENS, MARKS)
    whole.take(tokens, [Reasoning(reasoning), TextPart("d")])
    assert whole.count == count
    cut = ReasoningTokens(TOKENS, MARKS)
    for token in tokens:  # which may be ahead of the text
        cut.take([token], [])
    for character in reasoning:
        cut.take([], [Reasoning(character)])
    assert cut.count == count


def test_the_mark_is_no_reasoning() -> None:
    counted = ReasoningTokens(TOKENS, MARKS)
    counted.take([0, 5, 2], [Reasoning("d"), Reasoning("ab")])
    assert counted.count == 2
    short = ReasoningTokens([b"<think>", b"t", b"h"], MARKS)
    short.take([0, 1, 2], [Reasoning("th")])  # which the mark contains as well
    assert short.count == 2


@pytest.mark.parametrize("size", [1, 2, 100])
def test_line_breaks_around_reasoning(size: int) -> None:
    class Spoken:
        async def read(self, text: str, token_ids: object, *, final: bool) -> list[Part]:
            thought, _, words = text.partition("|")
            return [
                *([Reasoning(thought)] if thought else []),
                *([TextPart(words)] if words else []),
            ]

    async def all_parts() -> list[Part]:
        reader, parts, said = TrimmedReader(Spoken()), list[Part](), "\n\na\n\nb\n\n"
        for at in range(0, len(said), size):
            parts += await reader.read(said[at : at + size], (), final=False)
        return parts + await reader.read("|\nc", (), final=True)

    *thoughts, words = asyncio.run(all_parts())
    assert "".join(part.text for part in thoughts if isinstance(part, Reasoning)) == "a\n\nb"
    assert words == TextPart("\nc")
