"""Schemas of many shapes, all different; each has an instance of few tokens."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def record(properties: dict[str, Schema], *, optional: tuple[str, ...] = ()) -> Schema:
    """A closed object whose properties are required unless named in `optional`."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def integer(low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high}


def array(items: Any, **bounds: Any) -> Schema:
    return {"type": "array", "items": items, **bounds}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def ref(name: str, under: str = "$defs") -> Schema:
    return {"$ref": f"#/{under}/{name}"}


TEXT: Schema = {"type": "string", "maxLength": 12}
WORD: Schema = {"type": "string", "pattern": "^[a-z]{1,8}$"}
COLOUR: Schema = {"enum": ["red", "green", "blue"]}
DIGIT = integer(0, 9)
FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}
CIRCLE = record({"kind": {"const": "circle"}, "radius": FRACTION})
SQUARE = record({"kind": {"const": "square"}, "side": FRACTION})
POINT = record({"x": integer(0, 99), "y": integer(0, 99)})
NODE = record({"value": DIGIT, "children": array(ref("node"), maxItems=2)})
LINK = record({"name": WORD, "next": nullable(ref("link"))})
LINE = record({"product": WORD, "quantity": integer(1, 99)})

SHAPES: dict[str, Schema] = {
    "boolean": {"type": "boolean"},
    "integer": integer(-5, 1200),
    "number": FRACTION,
    "exclusive": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
    "string": TEXT,
    "bounded": {"type": "string", "minLength": 3, "maxLength": 5},
    "const": {"const": {"kind": "fixed", "list": [1, "two", None]}},
    "enum": {"enum": ["a", 1, None, True, {"b": [2]}]},
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
    "date": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])$"},
    "person": record({"name": TEXT, "age": integer(0, 130)}),
    "optional": record({"id": integer(1, 999), "note": TEXT}, optional=("note",)),
    "null": record({"middle": nullable(TEXT), "last": TEXT}),
    "types": record({"value": {"type": ["string", "null"], "maxLength": 8}}),
    "colours": array(COLOUR, minItems=1, maxItems=3),
    "matrix": array(array(DIGIT, maxItems=3), minItems=2, maxItems=2),
    "pair": array(False, prefixItems=[WORD, {"type": "boolean"}], minItems=2),
    "mixed": array({"anyOf": [integer(0, 99), COLOUR, {"type": "null"}]}, maxItems=4),
    "union": {"anyOf": [record({"cat": WORD}), record({"dog": {"type": "boolean"}})]},
    "tagged": {"anyOf": [CIRCLE, SQUARE]},
    "tree": {"$defs": {"node": NODE}, **ref("node")},
    "chain": {"$defs": {"link": LINK}, **ref("link")},
    "refs": {"$defs": {"point": POINT}, **record({"from": ref("point"), "to": ref("point")})},
    "definitions": {
        "definitions": {"tag": WORD},
        **record({"tags": array(ref("tag", "definitions"), maxItems=3)}),
    },
    "map": {"type": "object", "additionalProperties": DIGIT},
    "order": record(
        {
            "number": {"type": "string", "pattern": "^[0-9]{6}$"},
            "lines": array(LINE, minItems=1, maxItems=3),
            "paid": {"type": "boolean"},
        }
    ),
    "address": record(
        {"street": TEXT, "postcode": {"type": "string", "pattern": "^[0-9]{5}$"}, "city": TEXT}
    ),
    "nested": record({"a": record({"b": record({"c": record({"d": COLOUR})})})}),
    "percent": record({"percent": integer(0, 100), "of": WORD}),
    "annotated": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "description": "A meeting",
        **record(
            {
                "title": {"type": "string", "title": "Title", "default": "", "maxLength": 10},
                "hour": {**integer(0, 23), "examples": [9]},
            }
        ),
    },
    "unicode": record({"größe": {"enum": ["klein", "groß"]}, "名前": WORD}),
    "escapes": record(
        {'say "hi"': {"const": 'line\nbreak\t"quoted" \\ end'}, "a/b~c": COLOUR},
    ),
    "empty": record({}),
    "big": record({"count": integer(0, 9007199254740991)}),
}
