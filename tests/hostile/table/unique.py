"""Values that must differ: unique items, and names of one object."""

from __future__ import annotations

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject, array, closed

UNIQUE = Subject("unique")
SMALL = closed({"a": {"type": "integer", "minimum": 0, "maximum": 9}, "b": {"type": "boolean"}})
TOO_SMALL = BOUNDED | {"max_tokens_too_small"}
UNSATISFIABLE = frozenset({"unsatisfiable_json_schema"})
PERSON = {
    "title": "Person", "type": "object", "required": ["age", "name"],
    "properties": {"name": {"title": "Name", "type": "string"},
                   "age": {"title": "Age", "type": "integer"}},
}  # fmt: skip


def unique(items: object, least: int, **more: object) -> dict[str, object]:
    return array(items, uniqueItems=True, minItems=least, **more)


SHAPES: list[HostileShape] = [
    UNIQUE.schema("40 small objects", unique(SMALL, 40), outcomes=TOO_SMALL | UNSATISFIABLE),
    UNIQUE.schema("15 of 20 small objects", unique(SMALL, 15)),
    UNIQUE.schema("20 of 20 small objects", unique(SMALL, 20)),
    UNIQUE.schema("all 16 subsets of four", unique(array({"enum": [1, 2, 3, 4]}, uniqueItems=True,
        maxItems=2), 10)),
    UNIQUE.schema("50 digits", unique({"type": "integer", "minimum": 0, "maximum": 9}, 50),
        outcomes=UNSATISFIABLE),
    UNIQUE.schema("100 of 100 integers", unique({"type": "integer", "minimum": 0, "maximum": 99},
        100), max_tokens=500),
    UNIQUE.schema("1,100 strings", unique({"type": "string"}, 1100), outcomes=TOO_SMALL,
        max_tokens=None),
    UNIQUE.schema("60 strings of few letters", unique({"type": "string", "pattern": "^[ab]{1,5}$"},
        60), max_tokens=600),
    UNIQUE.schema("63 strings of few letters, too many",
        unique({"type": "string", "pattern": "^[ab]{1,5}$"}, 63), outcomes=UNSATISFIABLE),
    UNIQUE.schema("strings that share no beginning", unique({"type": "string",
        "pattern": "^(?:a|b.*)$"}, 5)),
    UNIQUE.schema("objects of several kinds", unique({"oneOf": [
        closed({"k": {"const": at}, "v": {"type": "integer", "minimum": 0, "maximum": at + 1}})
        for at in range(6)]}, 20), max_tokens=500),
    UNIQUE.schema("overlapping kinds of values", unique({"anyOf": [
        {"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}, {"enum": [3, 4, [5], {"a": 5}]},
        {"type": "boolean"}, {"type": "array", "maxItems": 0}]}, 9)),
    UNIQUE.schema("nested unique arrays", unique(unique(unique({"type": "boolean"}, 1), 1), 4)),
    UNIQUE.schema("unique people without a token limit", unique(PERSON, 3, maxItems=6),
        max_tokens=None),
    UNIQUE.schema("items of which two are equal", {"type": "array", "minItems": 4, "maxItems": 6,
        "items": {"enum": [*range(30)]}, "not": {"uniqueItems": True}}),
    UNIQUE.schema("objects of which two are equal", {"type": "array", "minItems": 3, "maxItems": 4,
        "items": SMALL, "not": {"uniqueItems": True}}),
    UNIQUE.schema("unique in one branch alone", {"oneOf": [
        unique({"type": "integer", "minimum": 0, "maximum": 5}, 4, maxItems=6),
        array({"type": "integer", "minimum": 3, "maximum": 8}, minItems=2, maxItems=5)]}),
    UNIQUE.schema("unique items with contains", unique({"type": "integer", "minimum": 0,
        "maximum": 20}, 12, contains={"multipleOf": 5}, minContains=3)),
    UNIQUE.schema("an open object whose members are listed", PERSON, max_tokens=None,
        outcomes=ALWAYS),
    UNIQUE.schema("an open object with 40 more members", {**PERSON, "minProperties": 42},
        max_tokens=1000),
    UNIQUE.schema("a map of strings", {"type": "object", "minProperties": 20,
        "additionalProperties": {"type": "string", "maxLength": 4}}, max_tokens=400),
    UNIQUE.schema("all names of two letters", {"type": "object", "minProperties": 6,
        "propertyNames": {"pattern": "^[ab]{2,3}$"}, "additionalProperties": {"type": "null"}}),
    UNIQUE.schema("more names than there are", {"type": "object", "minProperties": 13,
        "propertyNames": {"pattern": "^[ab]{2,3}$"}}, outcomes=UNSATISFIABLE),
    UNIQUE.schema("names by 8 patterns that overlap", {"type": "object", "minProperties": 4,
        "additionalProperties": False, "patternProperties": {
            f"^[a-{'hijklmno'[at]}]{{1,{at + 2}}}.*$": {"type": "integer", "minimum": at}
            for at in range(8)}}),
    UNIQUE.schema("names of up to 64 letters", {"type": "object", "minProperties": 2,
        "additionalProperties": False,
        "patternProperties": {"^[a-zA-Z0-9-]{1,64}$": {"type": "string", "maxLength": 5}}}),
    UNIQUE.schema("names by a counter and another", {"type": "object", "minProperties": 5,
        "patternProperties": {"^.{0,40}a.{0,40}$": {"type": "null"}, "^.{3,60}b": {
            "type": ["null", "integer"]}}, "additionalProperties": {"type": "boolean"}}),
]  # fmt: skip
