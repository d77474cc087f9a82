"""Reasoning sections at the beginning of free answers, cut anywhere."""

from __future__ import annotations

import asyncio

import pytest

from maskwright.server.answer.parts import CallBegun, Part, Reasoning, TextPart, WordReader
from maskwright.server.answer.thinking import ThinkingMarks, ThinkingReader, thinking_marks_of

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
    assert "".join(part.text for part in parts if isinstance(part, TextPart)) == words


def test_text_is_told_as_soon_as_it_is_certain() -> None:
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
