"""The check of answers: it finds what is wrong, and nothing wrong in what is right."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any

import pytest
import regex
from jsonschema.exceptions import ValidationError

from tests.hostile.answers import (
    UNCHECKED,
    VALID,
    CheckTimeoutError,
    check_instance,
    cpu_limit,
    memory_limit,
    translated,
    verdict,
)
from tests.hostile.shape import HostileShape, Subject

MADE = Subject("made up")
PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
HOST = {"type": "string", "format": "idn-hostname"}
NAMED = {
    "type": "object",
    "patternProperties": {r"^\p{Lu}": {"type": "integer"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("shape", "text", "complaint"),
    [
        (MADE.schema("person", PERSON), '{"name": "A"}', None),
        (MADE.schema("person", PERSON), '{"name": 1}', r"invalid at \$.name"),
        (MADE.schema("person", PERSON), '{"name": "A"', "JSONDecodeError"),
        (MADE.schema("person", PERSON), '{"name": "A", "name": "B"}', "comes twice"),
        (MADE.schema("number", {}), "NaN", "is not JSON"),
        (MADE.string("capital", r"^\p{Lu}\d$"), '"Ä1"', None),
        (MADE.string("capital", r"^\p{Lu}\d$"), '"ä1"', "does not match"),
        (MADE.string("capital", r"^\p{Lu}\d$"), '"A\\u0661"', "does not match"),
        (MADE.schema("names", NAMED), '{"Ab": 1}', None),
        (MADE.schema("names", NAMED), '{"Ab": "1"}', r"invalid at \$"),
        (MADE.schema("names", NAMED), '{"ab": 1}', "invalid"),
        (MADE.schema("host", HOST), '"bücher.example"', None),
        (MADE.schema("host", HOST), '"a..b"', "invalid"),
        (MADE.schema("address", {"format": "ipv6"}), '"::1"', None),
        (MADE.schema("address", {"format": "ipv6"}), '"::g"', "invalid"),
        (MADE.hidden("hidden", PERSON), "{}", "invalid at"),
        (MADE.regex("lines", r"a.b\s?"), "axb\u3000", None),
        (MADE.regex("lines", r"a.b"), "a\u2028b", "no match"),
        (MADE.regex("lines", r"ab$"), "ab\n", "no match"),
        (MADE.grammar("letters", 'start: "a"*', "a*"), "aa", None),
        (MADE.grammar("letters", 'start: "a"*', "a*"), "ab", "no match"),
    ],
)
def test_verdict(shape: HostileShape, text: str, complaint: str | None) -> None:
    said = verdict(shape, {"content": text})
    if complaint is None:
        assert said == VALID
    else:
        assert regex.search(complaint, said)


@pytest.mark.parametrize(
    ("text", "holds"),
    [("1" + "0" * 308, True), ("1e308", True), ("9" * 308, False), ("9.99e307", False)],
)
def test_numbers_are_compared_as_they_are_written(text: str, holds: bool) -> None:
    """The float 1e308 is more than the number."""
    schema = {"type": "number", "minimum": 1e308}
    if holds:
        check_instance(schema, text)
    else:
        with pytest.raises(ValidationError):
            check_instance(schema, text)


def test_what_negates_an_unchecked_format_is_no_fault() -> None:
    no_uri = MADE.schema("no uri", {"type": "string", "not": {"format": "uri"}})
    assert verdict(no_uri, {"content": '"é:"'}) == UNCHECKED
    no_date = MADE.schema("no date", {"type": "string", "not": {"format": "date"}})
    assert "invalid" in verdict(no_date, {"content": '"2020-01-01"'})


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": json.dumps(arguments)}}


def test_calls_are_checked_against_their_function() -> None:
    shape = MADE.tools("persons", [PERSON])
    assert verdict(shape, {"tool_calls": [call("call_0", {"name": "A"})]}) == VALID
    assert "invalid" in verdict(shape, {"tool_calls": [call("call_0", {})]})
    assert "KeyError" in verdict(shape, {"tool_calls": [call("call_1", {})]})
    assert "no function" in verdict(shape, {"content": "words"})
    assert verdict(MADE.tools("persons", [PERSON], "auto"), {"content": "words"}) == VALID


def test_a_check_that_takes_too_long_is_given_up() -> None:
    """The schema doubles forty times: it is checked 2 to the 40th times against one value."""
    defs: dict[str, Any] = {"d40": {"type": "integer"}}
    for at in range(40):
        defs[f"d{at}"] = {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2}
    doubled = MADE.schema("doubled", {"$defs": defs, "$ref": "#/$defs/d0"})
    begin = time.process_time()
    assert verdict(doubled, {"content": "1"}) == UNCHECKED
    assert time.process_time() - begin < 60
    nested = MADE.regex("nested", "(?:(?:(?:a|aa)+)+)+b")
    assert verdict(nested, {"content": "a" * 60}) == UNCHECKED


def test_the_limit_ends_with_its_block() -> None:
    with cpu_limit(0.01):
        pass
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    with pytest.raises(CheckTimeoutError), cpu_limit(0.01):
        all(True for _ in itertools.count())


def test_a_check_that_takes_too_much_memory_is_given_up() -> None:
    """`regex` writes nested counters out: this pattern takes more memory than any machine has."""
    nested = MADE.regex("nested", "(" * 100 + "a" + "+)" * 100)
    assert verdict(nested, {"content": "a"}) == UNCHECKED
    with pytest.raises(MemoryError), memory_limit(1 << 20):
        bytearray(1 << 30)
    assert len(bytearray(1 << 30)) == 1 << 30


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        (r"\w\W", ["a-", "_é"], ["é-", "ab"]),
        (r"[\d.][^\d]", ["1a", ".x", "1."], ["a1", "x."]),
        (r"\u{1f600}[\u{1f601}-\u{1f603}]", ["\U0001f600\U0001f602"], ["\U0001f600\U0001f604"]),
        (r"\ud83d\ude00", ["\U0001f600"], ["\ud83d"]),
        (r"a\.[.]", ["a.."], ["ab."]),
        (r"[[]\]", ["[]"], ["]]"]),
        (r"\p{scx=Greek}+", ["αβ"], ["ab"]),
    ],
)
def test_translated(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    inner = translated(pattern)
    assert [text for text in accepted if not regex.fullmatch(inner, text)] == []
    assert [text for text in rejected if regex.fullmatch(inner, text)] == []
