"""Size: documents of thousands to millions of values. What is large is not shown to the model."""

from __future__ import annotations

import string
from typing import Any

from tests.hostile.shape import BOUNDED, HostileShape, Subject, closed

SIZE = Subject("sizes")
LETTERS = string.ascii_lowercase


def word(number: int) -> str:
    """Different words for different numbers, which share few beginnings."""
    number = number * 7919 % 1_000_003
    return "".join(LETTERS[number // 26**at % 26] for at in range(5))


def properties(count: int) -> Any:
    return closed({f"{word(at)}{at}": {"type": "integer"} for at in range(count)}, [])


SHAPES: list[HostileShape] = [
    SIZE.hidden("2,000 properties", properties(2000)),
    SIZE.hidden("60,000 properties", properties(60000)),
    SIZE.hidden("2,000 required properties", closed({f"p{at}": {"const": 0} for at in range(2000)}),
        outcomes=BOUNDED | {"max_tokens_too_small"}),
    SIZE.hidden("400 properties in any order", {**properties(400), "minProperties": 12}),
    SIZE.hidden("an enum of 50,000 strings", {"enum": [word(at) + str(at) for at in range(50000)]}),
    SIZE.hidden("an enum of 20,000 objects", {
        "enum": [{"a": at, "b": word(at)} for at in range(20000)]}),
    SIZE.hidden("an enum of 3,000 values, unique", {"type": "array", "uniqueItems": True,
        "minItems": 20, "items": {"enum": [word(at) for at in range(3000)]}}),
    SIZE.hidden("a union of 3,000 constants and a pattern", {"anyOf": [
        *({"const": word(at)} for at in range(3000)),
        {"type": "string", "pattern": "^[a-m]{9}$"}]}),
    SIZE.hidden("exactly one of 1,500 strings and a pattern", {"oneOf": [
        *({"const": word(at)} for at in range(1500)),
        {"type": "string", "pattern": "^[n-z]{7}$"}]}),
    SIZE.hidden("any string but 5,000", {"type": "string", "not": {"enum": [word(at)
        for at in range(5000)]}}),
    SIZE.hidden("500 patterns of names", {"type": "object", "minProperties": 2, "patternProperties":
        {f"^{word(at)[:3]}.*{word(at)[3:]}$": {"type": "integer"} for at in range(500)},
        "additionalProperties": False}),
    SIZE.hidden("300,000 values", {"enum": [[at] for at in range(150000)]}),
    SIZE.string("a pattern of 19,000 characters", "^(?:" + "|".join(word(at) for at in range(3160))
        + ")$", outcomes=BOUNDED | {"context_length_exceeded"}),
    SIZE.regex("a pattern of 19,000 characters as text", "(?:" + "|".join(word(at)
        for at in range(3160)) + "){1,40}"),
    SIZE.regex("a pattern of 30,000 characters", "(?:" + "|".join(word(at) for at in range(5000))
        + ")", outcomes=frozenset({"limit_exceeded"})),
    SIZE.regex("a class of 2,000 ranges", "[" + "".join(
        f"\\u{low:04x}-\\u{low + 7:04x}" for low in range(0x100, 0x7e00, 16)) + "]{3,40}"),
    SIZE.grammar("a grammar of a million characters", "start: r0\n" + "\n".join(
        f'r{at}: "{word(at)}" r{(at * 7 + 1) % 15000} | "{word(at + 1)}"' for at in range(15000)),
        "[a-z]+"),
    SIZE.grammar("a grammar of three million characters", "start: " + '"abc" | ' * 375000 + '"d"',
        "abc|d", outcomes=frozenset({"limit_exceeded"})),
    SIZE.hidden("a body of nine million characters", {"const": "x" * 9_000_000},
        outcomes=frozenset({"body_too_large"})),
    SIZE.hidden("a constant of two million characters", {"const": "x" * 2_000_000},
        outcomes=BOUNDED | {"max_tokens_too_small"}),
]  # fmt: skip
