"""`escapes="needed"`: names and listed strings are written without escapes that JSON doesn't ask
for, and nothing else changes."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from maskwright import compile_json_schema, compile_structural_tag
from maskwright.errors import InputError
from tests.matching import allowed, vocabulary

VOCABULARY = vocabulary('{"', '":', '"}', "na", "\\u00", "\\n", "é", "me", '",', "\\u006e")

CLOSED = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        'a"b\n\u0001\\': {"enum": ["x/y", "é", 'say "hi"', "\u007f", 7]},
        "größe": {"anyOf": [{"const": "one"}, {"const": "two\t"}]},
    },
    "required": ["name"],
    "additionalProperties": False,
}
OPEN = {"properties": {"name": {"const": "n"}}}


@pytest.mark.parametrize(
    ("schema", "text", "taken"),
    [
        (CLOSED, r'{"name":"free \u0061\/ text"}', True),
        (CLOSED, r'{"n\u0061me":""}', False),
        (CLOSED, r'{"name":"","a\"b\n\u0001\\":"é"}', True),
        (CLOSED, r'{"name":"","a\"b\u000a\u0001\u005C":"é"}', True),
        (CLOSED, r'{"name":"","\u0061\"b\n\u0001\\":"é"}', False),
        (CLOSED, r'{"name":"","a\"b\n\u0001\\":"\u00e9"}', False),
        (CLOSED, r'{"name":"","a\"b\n\u0001\\":"x\/y"}', False),
        (CLOSED, r'{"name":"","a\"b\n\u0001\\":"x/y"}', True),
        (CLOSED, r'{"name":"","a\"b\n\u0001\\":"say \u0022hi\""}', True),
        (CLOSED, r'{"name":"","a\"b\n\u0001\\":7}', True),
        (CLOSED, r'{"name":"","gr\u00f6\u00dfe":"one"}', False),
        (CLOSED, r'{"name":"","größe":"two\t"}', True),
        (CLOSED, r'{"name":"","größe":"tw\u006f\t"}', False),
        (OPEN, r'{"name":"n","other":"\u0061"}', True),
        (OPEN, r'{"name":"\u006e"}', False),
        (OPEN, r'{"n\u0061me":"x"}', False),
    ],
)
def test_texts(schema: Any, text: str, taken: bool) -> None:
    grammar = compile_json_schema(schema, VOCABULARY, whitespace="compact", escapes="needed")
    matcher = grammar.matcher()
    fitted = matcher.accept_bytes(text.encode())
    assert (fitted == len(text.encode()) and matcher.accepting) is taken


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", [CLOSED, OPEN, {"enum": ["nana", "name", "é"]}], ids=str)
def test_masks_against_each_token_tried(schema: Any, order: Any) -> None:
    grammar = compile_json_schema(
        schema, VOCABULARY, whitespace="compact", property_order=order, escapes="needed"
    )
    rng = Random(5)
    for _ in range(12):
        matcher = grammar.matcher()
        for step in range(40):
            mask = allowed(matcher)
            tried = {t for t in range(VOCABULARY.size) if matcher.copy().accept(t)}
            assert mask == tried
            tokens = sorted(mask - set(VOCABULARY.eos))
            if not tokens:
                break
            matcher.accept(rng.choice(tokens))
            if step > 20:
                assert allowed(matcher, budget=matcher.min_tokens + 1)


def test_every_value_stays_within_reach() -> None:
    """What is refused is a spelling, never a value."""
    both = [
        compile_json_schema(CLOSED, VOCABULARY, whitespace="compact", escapes=escapes)
        for escapes in ("any", "needed")
    ]
    rng = Random(2)
    for _ in range(60):
        loose = both[0].matcher()
        while not loose.complete:
            budget = max(loose.min_tokens + rng.randrange(6), 1)
            tokens = sorted(allowed(loose, budget=budget) - set(VOCABULARY.eos))
            if not tokens:
                break
            loose.accept(rng.choice(tokens))
        value = json.loads(loose._read())
        strict = both[1].matcher()
        text = written(value).encode()
        assert strict.accept_bytes(text) == len(text), text
        assert strict.accepting


def test_names_are_forced() -> None:
    grammar = compile_json_schema(
        {
            "type": "object",
            "properties": {"name": {"enum": ["me"]}},
            "required": ["name"],
            "additionalProperties": False,
        },
        VOCABULARY,
        whitespace="compact",
        escapes="needed",
    )
    spelled = b"".join(VOCABULARY.tokens[t] for t in grammar.matcher().forced_tokens())
    assert spelled == b'{"name":"me"}'


def test_values_within_tags() -> None:
    tag = {
        "type": "structural_tag",
        "format": {"type": "json_schema", "json_schema": {"const": "name"}},
    }
    grammar = compile_structural_tag(tag, VOCABULARY, escapes="needed")
    assert grammar.matcher().accept_bytes(b'"name"') == 6
    assert grammar.matcher().accept_bytes(b'"n\\u0061me"') == 2


@pytest.mark.parametrize("compiler", [compile_json_schema, compile_structural_tag])
def test_an_unknown_choice(compiler: Any) -> None:
    with pytest.raises(InputError, match="escapes is one of any, needed"):
        compiler({}, VOCABULARY, escapes="few")
