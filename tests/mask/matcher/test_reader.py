"""Events where tokens are taken back: of the text that stands, from where it was reported."""

from __future__ import annotations

from random import Random

import pytest

from maskwright import Grammar, Matcher, compile_json_schema, compile_structural_tag, compile_tools
from maskwright.automaton.events.events import (
    ContainerClosed,
    ContainerOpened,
    Event,
    StringText,
    ValueRead,
)
from tests.grammar.tools.test_tools import FORMATS, NOW, NOWHERE, WEATHER
from tests.matching import EVERY_BYTE

(EOS,) = EVERY_BYTE.eos


def accept(matcher: Matcher, text: bytes) -> None:
    for byte in text:
        assert matcher.accept(byte)


@pytest.mark.parametrize("other", [b'xy":"zzz', b'xy":"', b"x", b'xy":"zzz"}'])
def test_a_text_that_is_rolled_back_and_goes_on_otherwise(other: bytes) -> None:
    """Whether what comes then is shorter, as long, or longer than what was taken back."""
    matcher = compile_json_schema({"type": "object"}, EVERY_BYTE).matcher()
    accept(matcher, b'{"a":"bc')
    assert matcher.events() == [ContainerOpened("", "object"), StringText("/a", "bc")]
    matcher.rollback(5)  # to {"a
    accept(matcher, other)
    if b"zzz" not in other:
        assert matcher.events() == []
        return
    found = matcher.events()
    assert found[0] == StringText("/axy", "zzz")
    assert found[1:] == ([ValueRead("/axy", "zzz"), ContainerClosed("")] if b"}" in other else [])


@pytest.mark.parametrize("more", [b"", b"3"])
def test_an_end_that_is_rolled_back(more: bytes) -> None:
    matcher = compile_json_schema({"type": "integer"}, EVERY_BYTE).matcher()
    accept(matcher, b"12")
    assert matcher.accept(EOS)
    assert matcher.events() == [ValueRead("", 12)]
    assert matcher.events() == []
    matcher.rollback(1)
    accept(matcher, more)
    assert matcher.events() == []
    assert matcher.accept(EOS)
    assert matcher.events() == [ValueRead("", int(b"12" + more))]


def test_a_text_that_goes_on_after_all() -> None:
    """It was said to be final, and was complete; then more came."""
    matcher = compile_json_schema({"type": "integer"}, EVERY_BYTE).matcher()
    accept(matcher, b"12")
    assert matcher.events(final=True) == [ValueRead("", 12)]
    accept(matcher, b"3")
    assert matcher.events(final=True) == [ValueRead("", 123)]


def grammars() -> dict[str, tuple[Grammar, bytes]]:
    """Each with a text that it accepts."""
    tag = {"type": "tag", "begin": "<", "content": {"type": "any_text"}, "end": "</b>"}
    _, calls = FORMATS["qwen_coder"]
    return {
        "json": (
            compile_json_schema(True, EVERY_BYTE, whitespace="flexible"),
            '{"a": [1, "x\\u00e9\\n", {"b/c~":null}], "d" : -2.5e1, "e":"é😀"}'.encode(),
        ),
        "tag": (compile_structural_tag({"format": tag}, EVERY_BYTE), "<aé</c></b>".encode()),
        "tools": (
            compile_tools([WEATHER, NOW, NOWHERE], "auto", EVERY_BYTE, format="qwen_coder"),
            b"Well.\n" + calls.encode(),
        ),
    }


GRAMMARS = grammars()


def anew(grammar: Grammar, steps: list[bytes], reported: int) -> list[Event]:
    """What a matcher reports of the text after its first `reported` steps."""
    matcher = grammar.matcher()
    text = b"".join(steps)
    accept(matcher, text[:reported])
    matcher.events()
    accept(matcher, text[reported:])
    return matcher.events()


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", GRAMMARS)
def test_events_are_those_of_the_text_that_stands(name: str, seed: int) -> None:
    """Whatever was accepted, reported and rolled back in between, by bytes that were right and
    others that the grammar allows too."""
    grammar, text = GRAMMARS[name]
    random = Random(seed)
    matcher = grammar.matcher()
    steps: list[bytes] = []
    reported = 0
    for _ in range(60):
        match random.choice(["right", "right", "other", "back", "events"]):
            case "right":
                at = len(steps)
                if b"".join(steps) == text[:at] and at < len(text):
                    piece = text[at : at + 1]
                else:
                    piece = random.choice([b'"', b"a", b"<", b":", b" ", b"1", b"}", b"\n"])
                if matcher.accept(piece[0]):
                    steps.append(piece)
            case "other":
                piece = bytes([random.choice(matcher.next_bytes() or b"a")])
                if matcher.accept(piece[0]):
                    steps.append(piece)
            case "back":
                count = random.randint(0, min(len(steps), 12))
                matcher.rollback(count)
                del steps[len(steps) - count :]
                reported = min(reported, len(steps))
            case "events":
                assert matcher.events() == anew(grammar, steps, reported)
                reported = len(steps)
