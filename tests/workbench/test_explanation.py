"""Explanations of texts as plain data."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from maskwright.mask import Grammar, compile_grammar, compile_json_schema
from maskwright.vocab import Vocabulary
from maskwright.workbench import reasons
from maskwright.workbench.explanation import ExplainedText, explained
from maskwright.workbench.schema.variants import SchemaVariants
from tests.bounds import PATIENCE

VOCABULARY = Vocabulary(
    [*(bytes([byte]) for byte in range(256)), b'{"', b"<x>", b""], special=[257], eos=258
)
SCHEMA = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"]}


def compiled(vocabulary: Vocabulary) -> Grammar:
    return compile_json_schema(SCHEMA, vocabulary)


def marked(vocabulary: Vocabulary) -> Grammar:
    return compile_grammar('start: "a" <x> /[bc]/', vocabulary)


def explanation_of(
    compile: Callable[[Vocabulary], Grammar], text: str = "", **fields: Any
) -> dict[str, Any]:
    asked = ExplainedText(**{"text": text, "tokens": None, "shown": 5, **fields})
    found = explained(compile, asked, VOCABULARY)
    json.dumps(found)  # it is sent as JSON
    return found


def test_what_may_follow_is_reported_as_characters_and_tokens() -> None:
    found = explanation_of(compiled, "")
    assert (found["verdict"], found["may_end"]) == ("incomplete", False)
    assert found["allowed"] == "'{'"
    assert found["count"] == 1
    assert found["tokens"] == {"count": 2, "of": 259, "ids": [123, 256], "texts": ["{", '{"']}
    assert "reasons" not in found
    assert "terminals" not in found


def test_a_whole_text_matches() -> None:
    found = explanation_of(compiled, '{"a": 1}')
    assert (found["verdict"], found["may_end"]) == ("match", True)
    assert found["tokens"]["texts"] == ["<end>"]


def test_a_fault_has_reasons_and_near_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasons, "MOST_SECONDS", PATIENCE)  # functions may have to be compiled
    found = explanation_of(compiled, '{"a": 3}', variants=SchemaVariants(json.dumps(SCHEMA), {}))
    assert (found["verdict"], found["accepted"]) == ("mismatch", 6)
    assert [reason["pointer"] for reason in found["reasons"]] == ["/properties/a/enum"]
    assert [reason["note"] for reason in found["reasons"]] == [""]
    assert found["reasons_complete"]
    assert {near["by"] for near in found["nearest"]} == {"1", "2"}
    assert found["tokens"]["count"] > 0


def test_after_the_end_no_keyword_is_the_reason() -> None:
    found = explanation_of(compiled, '{"a": 1} x', variants=SchemaVariants(json.dumps(SCHEMA), {}))
    assert found["verdict"] == "mismatch"
    assert found["may_end"]
    assert "reasons" not in found


def test_tokens_can_hold_control_tokens() -> None:
    found = explanation_of(marked, tokens=(97, 257))
    assert (found["verdict"], found["accepted"]) == ("incomplete", 1)
    assert found["tokens"]["texts"] == ["b", "c"]
    assert found["terminals"][0]["rest"] == "b"
    found = explanation_of(marked, tokens=(97, 97))
    assert (found["verdict"], found["accepted"]) == ("mismatch", 1)
    assert found["terminals"][0]["kind"] == "control token"
    assert explanation_of(marked, tokens=(257,))["verdict"] == "mismatch"


def test_the_number_of_tokens_that_are_shown_is_bounded() -> None:
    found = explanation_of(partial(compile_json_schema, {"type": "string"}), '"', shown=3)
    assert len(found["tokens"]["ids"]) == len(found["tokens"]["texts"]) == 3
    assert found["tokens"]["count"] > 100
