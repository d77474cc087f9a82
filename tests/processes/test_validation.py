"""The verdicts of the second reading of answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.errors import LimitError
from maskwright.mask import compile_grammar, compile_regex
from maskwright.models import LoadedModel
from maskwright.processes import Build, GrammarProcesses, Inquiry
from maskwright.processes.validation import MOST_ERRORS, Data, JsonCheck, ReadingCheck, checked
from maskwright.vocab import Vocabulary

BYTES = Vocabulary([*(bytes([byte]) for byte in range(256)), b"", b"<x>"], eos=256, special=[257])


def validated(text: str, schema: Any) -> Data:
    [verdict] = checked([JsonCheck("the answer", text, json.dumps(schema))], BYTES)
    return verdict


@pytest.mark.parametrize(
    ("text", "schema", "valid"),
    [
        ('{"a": 1}', {"properties": {"a": {"type": "integer"}}}, True),
        ('{"a": "1"}', {"properties": {"a": {"type": "integer"}}}, False),
        ("1.0", {"type": "integer"}, True),
        ("1.5", {"type": "integer"}, False),
        ("1.0", {"type": "integer", "$schema": "http://json-schema.org/draft-04/schema#"}, False),
        ("0.3", {"multipleOf": 0.1}, True),  # in binary fractions 0.3 / 0.1 is below 3
        ("12345678901234567890.5", {"multipleOf": 0.5}, True),
        ("9" * 5000, {"type": "integer", "minimum": 10}, True),
        ("[1, 1.0]", {"uniqueItems": True}, False),
        ("1", False, False),
        ('{"a":', True, False),
        ("NaN", True, False),
        ('"x"', {"pattern": r"^\p{L}$"}, None),
        ("[1]", {"items": [{"type": "string"}]}, None),
        ("[" * 100_000 + "]" * 100_000, True, None),
    ],
)
def test_json_is_validated(text: str, schema: Any, valid: bool | None) -> None:
    verdict = validated(text, schema)
    assert verdict["valid"] is valid
    assert bool(verdict["errors"]) == (valid is False)
    assert ("reason" in verdict) == (valid is None)
    assert verdict["by"].startswith("jsonschema ")


def test_errors_name_their_places() -> None:
    schema = {"properties": {"a/b": {"items": {"type": "integer"}}}}
    verdict = validated('{"a/b": [1, 2.5]}', schema)
    assert verdict["errors"] == [
        {
            "instance": "/a~1b/1",
            "schema": "/properties/a~1b/items/type",
            "keyword": "type",
            "message": "2.5 is not of type 'integer'",
        }
    ]


def test_errors_are_bounded() -> None:
    verdict = validated(json.dumps(["x" * 1000] * 50), {"items": {"type": "null"}})
    assert len(verdict["errors"]) == MOST_ERRORS
    assert all(len(error["message"]) <= 200 for error in verdict["errors"])


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*_: object, **__: object) -> None:
        raise AssertionError("a document was fetched")

    monkeypatch.setattr("urllib.request.urlopen", fetch)
    verdict = validated("1", {"$ref": "http://127.0.0.1:9/schema"})
    assert verdict["valid"] is None
    assert "Unresolvable" in verdict["reason"]


def test_a_text_is_read_again() -> None:
    build = Build(compile_regex, ("a+b",), {})
    checks = [ReadingCheck("the answer", text, build) for text in ("aab", "aac", "aa", "")]
    verdicts = checked(checks, BYTES)
    assert [verdict["valid"] for verdict in verdicts] == [True, False, False, False]
    assert verdicts[1]["errors"] == [{"offset": 2, "message": "byte 2 is not allowed"}]
    assert verdicts[2]["errors"] == [{"offset": 2, "message": "the text ends too early"}]


def test_tokens_are_read_where_the_text_does_not_show_all_of_them() -> None:
    build = Build(compile_grammar, ('start: <x> "a"',), {"dialect": "lark"})
    checks = [
        ReadingCheck("the answer", "a", build),
        ReadingCheck("the answer", "a", build, (257, ord("a"), 256)),
        ReadingCheck("the answer", "a", build, (257, 257)),
    ]
    verdicts = checked(checks, BYTES)
    assert [verdict["valid"] for verdict in verdicts] == [False, True, False]
    assert verdicts[2]["errors"] == [{"offset": 1, "message": "token 1 is not allowed"}]


def test_a_pattern_that_never_ends_is_stopped(
    processes: GrammarProcesses, loaded: LoadedModel
) -> None:
    check = JsonCheck("the answer", json.dumps("a" * 60), json.dumps({"pattern": "^(a+)+$b"}))
    with pytest.raises(LimitError):
        processes.inquire(Inquiry(checked, ([check],))).result(60)
    check = JsonCheck("the answer", "1", "true")
    [verdict] = processes.inquire(Inquiry(checked, ([check],))).result(60)
    assert verdict["valid"]
    assert loaded.vocab is processes.vocabulary
