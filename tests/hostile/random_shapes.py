"""Nasty shapes at random: constructs that are expensive in combination, by number.

    random_shape(17)   # always the same shape, under every Python

Every construct of the table occurs: counters in counters, alternatives that overlap, look-around,
recursive references, towers of `allOf`, `anyOf` and `oneOf`, names by several patterns, items that
must differ, and grammars that read a text in many ways.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from tests.hostile.shape import BOUNDED, HostileShape, Subject

Draw: TypeAlias = random.Random

RANDOM: Final = Subject("random")
REFUSED: Final = BOUNDED | {
    "context_length_exceeded",
    "invalid_grammar",
    "invalid_json_schema",
    "invalid_regex",
    "max_tokens_too_small",
    "unsatisfiable_grammar",
    "unsatisfiable_json_schema",
    "unsupported_grammar",
    "unsupported_json_schema",
}
"""A random shape may have no instance, refer to itself without end, or be too long."""

CLASSES: Final = ("[a-c]", "[b-e]", "[^a]", ".", r"\w", r"\p{L}", r"\p{Lu}", r"[^\p{N}x]", "[ab]")
FORMATS: Final = ("idn-hostname", "uri", "iri", "email", "date-time", "ipv6", "regex", "duration")
NAMES: Final = ("a", "b", "ab", "ba", "abc", "key", "größe")


def random_shape(number: int) -> HostileShape:
    """The shape of a number. Equal numbers give equal shapes."""
    draw = random.Random(number)
    kind = draw.choices(list(_KINDS), [weight for weight, _ in _KINDS.values()])[0]
    return _KINDS[kind][1](draw, f"{kind} {number}")


def _schema(draw: Draw, name: str) -> HostileShape:
    defs = {f"d{at}": schema(draw, 3) for at in range(3)}
    whole = {"$defs": defs, **composite(draw, 4)}
    return RANDOM.schema(name, whole, outcomes=REFUSED)


def _string(draw: Draw, name: str) -> HostileShape:
    return RANDOM.schema(name, string(draw), outcomes=REFUSED)


def _regex(draw: Draw, name: str) -> HostileShape:
    return RANDOM.regex(name, pattern(draw, 4), outcomes=REFUSED)


def _grammar(draw: Draw, name: str) -> HostileShape:
    rules = [f"r{at}" for at in range(draw.randint(1, 7))]
    lines = [f"start: {rules[0]}", "A: /[ab]/", "B: /[bc]{1,9}/", "C: /(a|ab|c)+/"]
    for rule in rules:
        options = [_sequence(draw, rules) for _ in range(draw.randint(1, 4))]
        # An option without rules, so that most rules have a text.
        options.append(draw.choice(['"a"', '"b" A', "B", '""']))
        lines.append(f"{rule}: " + " | ".join(options))
    return RANDOM.grammar(name, "\n".join(lines), "[abc]*", outcomes=REFUSED)


def _sequence(draw: Draw, rules: list[str]) -> str:
    parts = [
        draw.choice([*rules, *rules, "A", "B", "C", '"ab"']) for _ in range(draw.randint(1, 3))
    ]
    return " ".join(part + draw.choice(["", "", "", "?", "*", "+", "~1..9"]) for part in parts)


def _tag(draw: Draw, name: str) -> HostileShape:
    content: Any = {"type": "json_schema", "json_schema": schema(draw, 2)}
    for level in range(draw.randint(1, 5)):
        match draw.randrange(4):
            case 0:
                content = {"type": "tag", "begin": f"<{level}>", "content": content, "end": "</"}
            case 1:
                bounds = {"min": draw.randint(0, 2), "max": draw.randint(2, 9)}
                content = {"type": "repeat", "content": content, **bounds}
            case 2:
                other = {"type": "regex", "pattern": "x" + pattern(draw, 2)}
                content = {"type": "or", "elements": [other, content]}
            case _:
                text = {"type": "any_text", "max_chars": draw.randint(1, 300)}
                tag = {"type": "tag", "begin": "(", "content": text, "end": ")"}
                content = {"type": "sequence", "elements": [tag, content]}
    outcomes = REFUSED | {"invalid_structural_tag"}
    return RANDOM.tag(name, content, r"(?s).*", outcomes=outcomes)


def _tool(draw: Draw, name: str) -> HostileShape:
    functions = [obj(draw, 3) for _ in range(draw.randint(1, 3))]
    return RANDOM.tools(name, functions, outcomes=REFUSED)


_KINDS: Final[dict[str, tuple[int, Callable[[Draw, str], HostileShape]]]] = {
    "schema": (8, _schema),
    "string": (4, _string),
    "pattern": (3, _regex),
    "grammar": (4, _grammar),
    "tag": (2, _tag),
    "tool": (2, _tool),
}


def pattern(draw: Draw, depth: int) -> str:
    """A pattern without anchors: counters, alternatives and classes that overlap."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice([*"aabbc", "ab", "ba", *CLASSES])
    match draw.randrange(6):
        case 0 | 1:
            return "".join(pattern(draw, depth - 1) for _ in range(draw.randint(2, 3)))
        case 2:
            return f"(?:{'|'.join(pattern(draw, depth - 1) for _ in range(draw.randint(2, 4)))})"
        case 3 | 4:
            return f"(?:{pattern(draw, depth - 1)}){_count(draw)}"
        case _:
            sign = draw.choice(["=", "!", "="])
            return f"(?{sign}.{{0,{draw.randint(0, 40)}}}{pattern(draw, 1)})" + pattern(
                draw, depth - 1
            )


def _count(draw: Draw) -> str:
    low = draw.choice([0, 1, 2, 7, 30])
    return draw.choice(["*", "+", "?", f"{{{low},{low + draw.choice([1, 3, 20, 300])}}}"])


def string(draw: Draw) -> Any:
    """A schema of strings."""
    out: dict[str, Any] = {"type": "string"}
    if draw.random() < 0.6:
        out["pattern"] = draw.choice(["{}", "^{}$", "^{}"]).format(f"(?:{pattern(draw, 3)})")
    if draw.random() < 0.25:
        out["format"] = draw.choice(FORMATS)
    if draw.random() < 0.3:
        out["minLength"] = draw.randint(0, 30)
    if draw.random() < 0.3:
        out["maxLength"] = draw.choice([3, 40, 500])
    return out


def schema(draw: Draw, depth: int) -> Any:
    """Any schema, with `depth` levels of others in it."""
    if depth <= 0:
        return draw.choice([string, _number, _enum, _boolean])(draw)
    match draw.randrange(7):
        case 0 | 1:
            return composite(draw, depth)
        case 2 | 3:
            return obj(draw, depth)
        case 4:
            return array(draw, depth)
        case 5:
            return {"$ref": f"#/$defs/d{draw.randrange(3)}"} if depth > 2 else string(draw)
        case _:
            return string(draw)


def composite(draw: Draw, depth: int) -> Any:
    """A union, a conjunction or a condition of schemas."""
    keyword = draw.choice(["allOf", "anyOf", "oneOf", "anyOf", "if"])
    if keyword == "if":
        parts = (schema(draw, depth - 1) for _ in range(3))
        return dict(zip(("if", "then", "else"), parts, strict=True))
    options = [schema(draw, depth - 1) for _ in range(draw.randint(2, 6))]
    out = {keyword: options}
    if draw.random() < 0.2:
        out["not"] = schema(draw, 0)
    return out


def obj(draw: Draw, depth: int) -> Any:
    """A schema of objects."""
    names = draw.sample(NAMES, draw.randint(0, 4))
    out: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema(draw, depth - 1) for name in names},
        "required": [name for name in names if draw.random() < 0.4],
    }
    if draw.random() < 0.4:
        out["patternProperties"] = {
            f"^{pattern(draw, 2)}": schema(draw, depth - 2) for _ in range(draw.randint(1, 3))
        }
    if draw.random() < 0.5:
        out["additionalProperties"] = draw.choice([False, schema(draw, depth - 2)])
    if draw.random() < 0.3:
        out["minProperties"] = draw.randint(1, 6)
    if draw.random() < 0.15:
        out["propertyNames"] = {"pattern": pattern(draw, 2)}
    if draw.random() < 0.15:
        out["dependentRequired"] = {draw.choice(NAMES): [draw.choice(NAMES)]}
    return out


def array(draw: Draw, depth: int) -> Any:
    """A schema of arrays."""
    out: dict[str, Any] = {"type": "array", "items": schema(draw, depth - 1)}
    least = draw.randint(0, 6)
    if draw.random() < 0.5:
        out["minItems"] = least
        out["maxItems"] = least + draw.randint(0, 9)
    if draw.random() < 0.4:
        out["uniqueItems"] = True
    if draw.random() < 0.25:
        out["contains"] = schema(draw, depth - 2)
        out["maxContains"] = draw.randint(1, 3)
    if draw.random() < 0.2:
        out["prefixItems"] = [schema(draw, depth - 2) for _ in range(2)]
    return out


def _number(draw: Draw) -> Any:
    out: dict[str, Any] = {"type": draw.choice(["integer", "number"])}
    if draw.random() < 0.5:
        out["minimum"] = draw.choice([-7, 0, 1.5, 10**6])
    if draw.random() < 0.5:
        out["multipleOf"] = draw.choice([2, 3, 7, 0.5, 0.01, 97, 2400])
    return out


def _enum(draw: Draw) -> Any:
    return {"enum": draw.sample([1, 2, 1.5, "a", "ab", "abc", None, True, [1], {"a": 1}], 4)}


def _boolean(_: Draw) -> Any:
    return {"type": "boolean"}
