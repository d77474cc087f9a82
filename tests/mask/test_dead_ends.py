"""From everything a mask allows, the text can be completed."""

from __future__ import annotations

import random
from typing import Any

import pytest

from maskwright.mask import compile_json_schema
from maskwright.vocab import Vocabulary


def closed(*names: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in names},
        "required": [name for name in names if name not in optional],
        "additionalProperties": False,
    }


SCHEMAS: list[dict[str, Any]] = [
    {"const": "é"},
    {"enum": ["groß", "größer", "名前", "名", "\U0001f600", "\U0001f680x"]},
    {"type": "string", "pattern": "^[é-ü]{2}$"},
    closed("kind", "radius"),
    closed("a", "ab", "abc"),
    closed("größe", "名前", "\U0001f600"),
    closed("name", "note", "number", optional=("note",)),
    {"anyOf": [closed("kind", "side"), closed("kind", "radius")]},
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_every_allowed_byte_leads_to_an_end(schema: dict[str, Any], order: Any) -> None:
    """Random walks over bytes; at every step each way on is tried."""
    vocab = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos=256)
    grammar = compile_json_schema(schema, vocab, property_order=order)
    draw = random.Random(1)
    for _ in range(8):
        matcher = grammar.matcher()
        for _ in range(40):
            following = matcher.next_bytes()
            for byte in following:
                ahead = matcher.copy()
                assert ahead.accept(byte)
                assert ahead.accepting or ahead.next_bytes()
                assert ahead.min_tokens >= 0
            if not following:
                break
            matcher.accept(draw.choice(following))
