"""Masks under a budget of items that must differ, bounds that leave room, and no long searches."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pytest

from maskwright import Grammar, compile_json_schema
from maskwright.errors import LimitError
from tests.matching import EVERY_BYTE, allowed, vocabulary

VOCABULARY = vocabulary('{"a":', '":', ',"b":', '"', "},{", "1,", "]", "}]", '"}', "ab", ',"', "[[")


def closed(required: int = 9, /, **properties: Any) -> dict[str, Any]:
    names = list(properties)[:required]
    return {
        "type": "object", "properties": properties, "required": names,
        "additionalProperties": False,
    }  # fmt: skip


TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
FEW, SHORT = {"enum": ["a", "b", "ab"]}, {"type": "string", "maxLength": 3}
MOST_SECONDS = 8.0
"""Of process time; each takes a fraction of it on an idle machine."""
ITEMS: dict[str, tuple[Any, int]] = {
    "strings": (TEXT, 3),
    "short strings": (SHORT, 2),
    "few strings": (FEW, 3),
    "numbers": (NUMBER, 2),
    "text first": (closed(a=TEXT, b=FLAG), 2),
    "text last": (closed(a=FLAG, b=TEXT), 3),
    "short text": (closed(a=SHORT, b=FLAG), 2),
    "few of both": (closed(a=FEW, b=FLAG), 5),
    "all of both": (closed(a=FEW, b=FLAG), 6),
    "some optional": (closed(1, a=FLAG, b=TEXT), 3),
    "free names": ({"type": "object", "properties": {"a": FLAG}, "required": ["a"]}, 3),
    "any names": ({"type": "object"}, 2),
    "arrays": ({"type": "array", "items": FEW, "minItems": 1}, 4),
    "unique arrays": ({"type": "array", "items": NUMBER, "uniqueItems": True, "minItems": 2}, 3),
    "arrays within": (closed(a={"type": "array", "items": FLAG}, b=FEW), 3),
    "objects within": (closed(a=closed(a=FEW, b=FLAG)), 3),
    "of two kinds": ({"anyOf": [closed(a=FEW), NUMBER]}, 3),
    "anything": (True, 2),
}


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("name", ITEMS)
def test_bounds_leave_room(name: str, order: Any) -> None:
    item, least = ITEMS[name]
    schema = {"type": "array", "uniqueItems": True, "items": item, "minItems": least}
    random = Random(name + order)
    grammar = compile_json_schema(schema, VOCABULARY, property_order=order, whitespace="spaced")
    for spare in (0, 8, 20):
        matcher = grammar.matcher()
        left = grammar.min_tokens + spare
        for _ in range(24):
            tokens = sorted(allowed(matcher, left) - set(VOCABULARY.eos))
            if not tokens:
                break
            here, text = matcher._path[-1].configuration, bytes(matcher._read())
            left -= 1
            for token in random.sample(tokens, min(3, len(tokens))):
                data = VOCABULARY.spellings[token]
                behind = grammar.advance(here, data, text)
                assert behind is not None
                assert grammar.budgets.tokens_needed(behind, text + data) <= left, text + data
            assert matcher.accept(random.choice(tokens))


@pytest.mark.parametrize(
    "name", ["strings", "short strings", "numbers", "text first", "short text", "unique arrays"]
)
def test_ample_budgets_need_no_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": ITEMS[name][0], "minItems": 3}
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    matcher = grammar.matcher()
    text = bytes(_shortest(grammar))
    monkeypatch.setattr(grammar.budgets, "_which_fit", None)
    for byte in text:
        assert byte in allowed(matcher, 500)
        assert matcher.accept(byte)
    assert matcher.complete


def _shortest(grammar: Grammar) -> list[int]:
    """The tokens, which are bytes, of a shortest text."""
    matcher, left, found = grammar.matcher(), grammar.min_tokens, list[int]()
    while not matcher.complete:
        token = min(allowed(matcher, left))
        assert matcher.accept(token)
        found.append(token)
        left -= 1
    return found


def nested(depth: int, least: int) -> Any:
    if not depth:
        return NUMBER
    items = nested(depth - 1, least)
    return {"type": "array", "uniqueItems": True, "minItems": least, "items": items}


@pytest.mark.parametrize(
    ("schema", "is_answered"),
    [
        ({**nested(1, 100), "items": closed(a=TEXT, b=TEXT)}, True),
        ({**nested(1, 5), "items": closed(**{f"f{at}": TEXT for at in range(300)})}, True),
        (nested(3, 6), True),
        (nested(3, 20), False),
    ],
    ids=["many objects", "many members", "nested", "nested deep"],
)
def test_tight_budgets_end_soon(schema: Any, is_answered: bool) -> None:
    began = time.process_time()
    try:
        grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
        left = grammar.min_tokens + 5
        matcher = grammar.matcher()
        for _ in range(15):
            began = time.process_time()
            assert matcher.accept(min(allowed(matcher, left)))
            assert time.process_time() - began < MOST_SECONDS
            left -= 1
    except LimitError:
        assert not is_answered
        assert time.process_time() - began < MOST_SECONDS
    else:
        assert is_answered
