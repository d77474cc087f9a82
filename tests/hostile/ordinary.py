"""Schemas as ordinary clients send them, as many as are asked for, all different.

ordinary_schema(17)            # always the same schema
ordinary_schema(17, "other")   # the same structure, under other names
"""

from __future__ import annotations

import random
from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

WORDS: Final = (
    "account", "address", "amount", "author", "batch", "category", "city", "code", "comment",
    "contact", "country", "currency", "customer", "date", "department", "description", "device",
    "email", "event", "field", "group", "height", "invoice", "item", "label", "language", "level",
    "location", "message", "mode", "name", "note", "number", "order", "owner", "phase", "price",
    "product", "project", "quantity", "rating", "reason", "region", "room", "score", "section",
    "size", "source", "state", "status", "street", "subject", "tag", "target", "title", "total",
    "type", "unit", "user", "value", "version", "weight", "year", "zone",
)  # fmt: skip
DEPTH: Final = 3


def ordinary_schema(number: int, salt: str = "") -> Schema:
    """A closed or open object of three to seven properties. Every name and every word of an enum
    contains `number` and `salt`, so that no two schemas share a value."""
    return _object(random.Random(number), f"{salt}{number}", DEPTH)


def _object(draw: random.Random, mark: str, depth: int) -> Schema:
    words = draw.sample(WORDS, draw.randint(3, 7))
    properties = {f"{word}_{mark}": _value(draw, mark, depth - 1) for word in words}
    schema: Schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if draw.random() < 0.7],
    }
    if draw.random() < 0.8:
        schema["additionalProperties"] = False
    return schema


def _value(draw: random.Random, mark: str, depth: int) -> Schema:
    if depth and draw.random() < 0.25:
        return _object(draw, mark, depth)
    if depth and draw.random() < 0.25:
        least = draw.randint(0, 2)
        items = _value(draw, mark, depth - 1)
        return {"type": "array", "items": items, "minItems": least, "maxItems": least + 3}
    match draw.randrange(8):
        case 0:
            return {"type": "string", "maxLength": draw.randint(5, 60)}
        case 1:
            return {"type": "string", "enum": [f"{w} {mark}" for w in draw.sample(WORDS, 4)]}
        case 2:
            low = draw.randint(-50, 50)
            return {"type": "integer", "minimum": low, "maximum": low + draw.randint(5, 5000)}
        case 3:
            return {"type": "number", "minimum": 0, "maximum": draw.randint(1, 1000)}
        case 4:
            return {"type": "boolean"}
        case 5:
            return {"type": "string", "format": draw.choice(["date", "date-time", "uuid", "email"])}
        case 6:
            letters, digits = draw.randint(1, 4), draw.randint(2, 6)
            return {"type": "string", "pattern": f"^[A-Z]{{{letters}}}-[0-9]{{{digits}}}$"}
        case _:
            return {
                "anyOf": [{"type": "string", "maxLength": draw.randint(5, 40)}, {"type": "null"}]
            }
