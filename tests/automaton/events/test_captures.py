"""Events of captures, text by text: what is certain, and from when on."""

from __future__ import annotations

import pytest

from maskwright.automaton.events.captures import CaptureReader
from maskwright.automaton.events.events import CaptureBegun, CaptureEnded, CaptureText, Event
from maskwright.automaton.machine.trace import MachineTrace
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.grammar.rules.tree import Capture, ContainerCapture, Expression, Repeat, Rules
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Schema
from maskwright.mask.compile.rules import compile_rules
from tests.automaton.rules.networks import A, B, C, X, alt, opt, seq, text
from tests.matching import EVERY_BYTE


def heard(body: Expression, data: str, *, ended: bool = False) -> list[str]:
    """The events after each byte, written short, and at the end."""
    grammar = compile_rules(Rules("start", {"start": body}), EVERY_BYTE).recognizer
    contexts = grammar.machine.contexts
    assert isinstance(contexts, RuleContexts)
    trace = MachineTrace(grammar.machine, grammar.start)
    reader = CaptureReader(contexts, trace.text)
    found: list[str] = []
    for byte in data.encode():
        events: list[Event] = []
        for left in trace.read(bytes([byte])):
            reader.left(left, trace.stack)
            events += reader.boundaries()
        found.append(written([*events, *reader.boundaries(), *reader.pieces()], data))
    if ended:
        events = []
        for left in trace.end():
            reader.left(left, trace.stack)
            events += reader.boundaries()
        found.append(written([*events, *reader.pieces(final=True)], data))
    return found


def written(events: list[Event], whole: str) -> str:
    """`<c` where a capture begins, `c>` where it ends, a piece of text between quotes, which stands
    in the `whole` text where it says."""
    names: list[str] = []
    for event in events:
        match event:
            case CaptureBegun(name=name):
                names.append(f"<{name}")
            case CaptureText(text=text, at=at):
                assert whole.startswith(text, at)
                names.append(f"'{text}'")
            case CaptureEnded(name=name):
                names.append(f"{name}>")
            case _:
                raise AssertionError(event)
    return " ".join(names)


@pytest.mark.parametrize(
    ("body", "data", "expected"),
    [
        (seq(A, Capture("c", B), X), "abx", ["<c", "'b' c>", ""]),
        (seq(Capture("c", seq(A, B)), X), "abx", ["<c 'a'", "'b' c>", ""]),
        # Whether the capture is in the text is open until the texts differ
        (alt(seq(A, Capture("c", B), X), seq(A, B, C)), "abx", ["", "", "<c 'b' c>"]),
        (alt(seq(A, Capture("c", B), X), seq(A, B, C)), "abc", ["", "", ""]),
        (alt(Capture("c", seq(A, B)), Capture("d", seq(A, C))), "ac", ["", "<d 'ac' d>"]),
        # Nested captures, and one after the other
        (seq(Capture("o", seq(A, Capture("i", B))), X), "abx", ["<o 'a' <i", "'b' 'b' i> o>", ""]),
        (seq(Capture("c", A), Capture("d", B), X), "abx", ["<c 'a' c> <d", "'b' d>", ""]),
        # A tail is no part of the captured text, and held back
        (seq(Capture("c", text("[a-z]*;"), ";"), X), "ab;x", ["<c 'a'", "'b'", "c>", ""]),
        # A character is reported as a whole
        (seq(Capture("c", text("éa")), X), "éax", ["<c", "'é'", "'a' c>", ""]),
        (seq(opt(Capture("c", A)), X), "x", [""]),
    ],
)
def test_events_after_each_byte(body: Expression, data: str, expected: list[str]) -> None:
    assert heard(body, data) == expected


EVEN = parse_schema({"type": "array", "items": {"enum": [2, 4]}}, ParseOptions()).root
EITHER = seq(Capture("s", text("[^;]*;"), ";", ContainerCapture("j", EVEN)), X)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # Certain at the first character that begins no array or object
        ("ab;x", ["<s 'a'", "'b'", "s>", ""]),
        (" a;x", ["", "<s ' a'", "s>", ""]),
        # Else at the end: what is an instance of the schema, however it is written
        ("[2];x", ["", "", "", "<j '[2]' j>", ""]),
        (" [ 2 ];x", [*[""] * 6, "<j ' [ 2 ]' j>", ""]),
        ("[2.0];x", [*[""] * 5, "<j '[2.0]' j>", ""]),
        ("[];x", ["", "", "<j '[]' j>", ""]),
        # ... and what isn't: other values, no JSON, what only some readers take for JSON
        ("[3];x", ["", "", "", "<s '[3]' s>", ""]),
        ("{};x", ["", "", "<s '{}' s>", ""]),
        ("[2;x", ["", "", "<s '[2' s>", ""]),
        ("[2]a;x", ["", "", "", "", "<s '[2]a' s>", ""]),
        ("[NaN];x", [*[""] * 5, "<s '[NaN]' s>", ""]),
    ],
)
def test_a_text_that_may_be_a_container(data: str, expected: list[str]) -> None:
    assert heard(EITHER, data) == expected


def test_a_container_without_a_schema_is_any_json() -> None:
    anything = ContainerCapture("j", Schema(""))
    body = seq(Capture("s", text("[^;]*;"), ";", anything), X)
    for data, name in (
        ('{"a": [1]}', "j"),
        ('{"a": 1, "a": 2}', "s"),
        ('["\\ud800"]', "s"),
        ("[1e999]", "s"),
        ("[" * 20_000 + "]" * 20_000, "s"),
    ):
        assert heard(body, f"{data};")[-1] == f"<{name} '{data}' {name}>", data


@pytest.mark.parametrize(
    ("body", "data", "expected"),
    [
        (seq(A, Capture("c", text("[a-z]*"))), "abc", ["<c", "'b'", "'c'", "c>"]),
        (seq(A, opt(Capture("c", B))), "a", ["", ""]),
        # One capture after the other: whether the first has ended shows with the next byte
        (
            seq(Repeat(Capture("c", seq(A, opt(B)))), X),
            "aabx",
            ["<c 'a'", "c> <c 'a'", "'b' c>", ""],
        ),
        # The end decides which of two captures it was
        (alt(Capture("c", A), Capture("d", seq(A, opt(A)))), "a", ["", ""]),
    ],
)
def test_events_up_to_the_end(body: Expression, data: str, expected: list[str]) -> None:
    assert heard(body, data, ended=True)[: len(expected)] == expected
