"""Events of a JSON value after each byte: what is complete, and which characters are whole."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.automaton.events.events import (
    ContainerClosed,
    ContainerOpened,
    Event,
    StringText,
    ValueRead,
)
from maskwright.automaton.events.json import JsonReader, may_read_string
from maskwright.automaton.machine.trace import MachineTrace
from maskwright.automaton.value.level import Level, LevelPhase
from tests.matching import EVERY_BYTE


def heard(schema: Any, data: str) -> list[str]:
    """The events after each byte and at the end of a text, without those that are empty."""
    recognizer = compile_json_schema(schema, EVERY_BYTE).recognizer
    trace = MachineTrace(recognizer.machine, recognizer.start)
    reader = JsonReader(trace.text)
    found: list[str] = []

    def follow(steps: Any) -> list[Event]:
        events: list[Event] = []
        for left in steps:
            level = recognizer.machine.contexts.level(left.context)
            if level is not None:
                events += reader.left(level, left)
        return events

    for byte in data.encode():
        events = follow(trace.read(bytes([byte])))
        level = None if trace.done else recognizer.machine.contexts.level(trace.stack[-1])
        if level is not None and may_read_string(level):
            events += reader.string_text(len(trace.text))
        found += map(written, events)
    return found + list(map(written, follow(trace.end())))


def written(event: Event) -> str:
    """An event as its pointer and a short word."""
    match event:
        case ContainerOpened(pointer=pointer, kind=kind):
            return f"{pointer} {kind}"
        case ContainerClosed(pointer=pointer):
            return f"{pointer} closed"
        case StringText(pointer=pointer, text=text):
            return f"{pointer} +{text}"
        case ValueRead(pointer=pointer, value=value):
            return f"{pointer} = {value!r}"
        case _:
            raise AssertionError(event)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("12", [" = 12"]),
        ("null", [" = None"]),
        ('""', [" = ''"]),
        ('"ab"', [" +a", " +b", " = 'ab'"]),
        # A character is reported when its last byte or escape has been read
        ('"é😀"', [" +é", " +😀", " = 'é😀'"]),
        ('"\\n"', [" +\n", " = '\\n'"]),
        ('"\\u00e9x"', [" +é", " +x", " = 'éx'"]),
        ('"\\ud83d\\ude00"', [" +😀", " = '😀'"]),
        # Containers, and where in them a value stands
        ("[]", [" array", " closed"]),
        ("[1, [2]]", [" array", "/0 = 1", "/1 array", "/1/0 = 2", "/1 closed", " closed"]),
        ('{"a": 1, "b":2}', [" object", "/a = 1", "/b = 2", " closed"]),
        ('{"a/b~c": true}', [" object", "/a~1b~0c = True", " closed"]),
        ('{"": {"": 0}}', [" object", "/ object", "// = 0", "/ closed", " closed"]),
        ('{"\\u0061b": "x"}', [" object", "/ab +x", "/ab = 'x'", " closed"]),
        ('[{"a": []}, 3]', [" array", "/0 object", "/0/a array", "/0/a closed", "/0 closed",
                            "/1 = 3", " closed"]),
        # The name of a member is no string value
        ('{"ab": null}', [" object", "/ab = None", " closed"]),
    ],
)  # fmt: skip
def test_events_of_a_text(data: str, expected: list[str]) -> None:
    assert heard(True, data) == expected


@pytest.mark.parametrize(
    ("phase", "bracket", "expected"),
    [
        (LevelPhase.VALUE, "{", True),
        (LevelPhase.VALUE, "", True),
        (LevelPhase.FIRST, "[", True),
        (LevelPhase.FIRST, "{", False),
        (LevelPhase.NAME, "{", False),
        (LevelPhase.NEXT, "[", False),
    ],
)
def test_where_a_string_is_a_value(phase: LevelPhase, bracket: str, expected: bool) -> None:
    assert may_read_string(Level(phase, bracket, (), 1)) is expected
