"""Random schemas and random texts: what reads them in C neither crashes nor contradicts itself.

Whether masks are right, `tests/properties/` says. Here the inputs are many and strange, for builds
that check each access to memory (`make sanitize`).
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest

from maskwright import Grammar, MaskwrightError, Matcher, compile_json_schema, compile_regex
from maskwright.errors import BudgetError, LimitError, TooLongError
from tests.matching import allowed, vocabulary
from tests.properties.patterns import counted_pattern
from tests.properties.schemas import combined, schema

SCHEMAS = 50
TEXTS = 50
MOST_TOO_LARGE = 5
"""Texts of one schema whose completions are too large; finding that out takes long."""
VOCABULARY = vocabulary(
    '":', '": "', '","', '{"', '"}', '"]', "[]", "[{", "}]", "},", '":{"', "true", "null", "12",
    "-1.5e", "ab", "abc", '"a"', '"a":1', "é", "日本", "😀", b"\xc3", b"\xf0\x9f", '\\u00', '\\ud8',
    '\\"', "  ", "\n  ", 'a","ab":', "aaaaaaaaaaaaaaaa", "1234567890", "2024-01-01", "T00:00",
)  # fmt: skip
FORMATS = ("date", "time", "date-time", "uuid", "email", "hostname", "ipv4", "ipv6", "uri")
STRANGE = (
    b"\\u0061",
    b"\\ud83d\\ude00",
    b"\xed\xa0\x80",
    b"\xff",
    b"\x00",
    b'\\"',
    b"1e400",
    b"-0",
)


def fuzzed_schema(random: Random) -> Any:
    """A schema of the properties' generators, or with keywords that they lack, or with a change at
    some place."""
    kind = random.random()
    if kind < 0.4:
        drawn = schema(random)
    elif kind < 0.7:
        drawn = combined(random)
    else:
        string: dict[str, Any] = {"type": "string"}
        if random.random() < 0.5:
            string["pattern"] = counted_pattern(random, "abé", 6)
        else:
            string["format"] = random.choice(FORMATS)
        if random.random() < 0.5:
            string["maxLength"] = random.randrange(40)
        items = random.choice([string, {"anyOf": [string, {"type": "number"}]}, schema(random, 1)])
        drawn = random.choice(
            [
                string,
                {"type": "array", "items": items, "uniqueItems": True, "maxItems": 9},
                {"type": "object", "patternProperties": {"^[ab]": items}, "maxProperties": 4},
                {"type": "object", "propertyNames": string, "additionalProperties": items},
                {"oneOf": [string, {"type": "string", "pattern": "^a*b"}, {"const": "aab"}]},
            ]
        )
    return changed(random, drawn) if random.random() < 0.3 else drawn


def changed(random: Random, drawn: Any) -> Any:
    """The schema with one value at some place replaced or left out."""
    if isinstance(drawn, dict) and drawn:
        name = random.choice(list(drawn))
        others = {key: value for key, value in drawn.items() if key != name}
        return others if random.random() < 0.2 else {**drawn, name: changed(random, drawn[name])}
    if isinstance(drawn, list) and drawn:
        at = random.randrange(len(drawn))
        return [*drawn[:at], changed(random, drawn[at]), *drawn[at + 1 :]]
    return random.choice([drawn, 0, -1, 1 << 40, 1e300, "", "a" * 300, None, [], {}, True])


def fuzzed_text(random: Random, grammar: Grammar) -> bytes:
    """Where masks lead, with some bytes changed; or bytes that come as they come."""
    if random.random() < 0.2:
        pieces = (*STRANGE, *(bytes([byte]) for byte in b'{}[]":,ab1 \\'), random.randbytes(3))
        return b"".join(random.choices(pieces, k=random.randrange(40)))
    matcher, text = grammar.matcher(), bytearray()
    for _ in range(random.randrange(24)):
        tokens = sorted(allowed(matcher) - set(VOCABULARY.eos))
        if not tokens:
            break
        token = random.choice(tokens)
        if not matcher.accept(token):
            break
        text += VOCABULARY.tokens[token]
    if text and random.random() < 0.5:
        text[random.randrange(len(text))] = random.randrange(256)
    return bytes(text)


def check(matcher: Matcher, text: bytes, random: Random) -> None:
    """Read a text in tokens, and again in bytes; ask on the way what can be asked."""
    ids = VOCABULARY.fewest(text)
    row, again = np.zeros(VOCABULARY.words, np.int32), np.zeros(VOCABULARY.words, np.int32)
    taken = 0
    for token in ids:
        matcher.fill_mask(row)
        is_allowed = bool(row[token >> 5] >> (token & 31) & 1)
        other = random.randrange(VOCABULARY.size)
        if row[other >> 5] >> (other & 31) & 1 and other not in VOCABULARY.eos:
            assert matcher.accept(other)
            matcher.rollback(1)
            matcher.fill_mask(again)
            assert np.array_equal(row, again)
        if random.random() < 0.1:
            within(matcher, random)
        assert matcher.accept(token) == is_allowed
        if not is_allowed:
            break
        taken += len(VOCABULARY.tokens[token])
    matcher.reset()
    count = matcher.accept_bytes(text)
    assert taken <= count <= len(text)
    for at, byte in enumerate(text[: count + 1]):
        if at == 0:
            matcher.reset()
        assert matcher.accept(VOCABULARY.fewest(bytes([byte]))[0]) == (at < count)
    assert matcher.accepting == (matcher.copy().accepting)


def within(matcher: Matcher, random: Random) -> None:
    """What takes the budget into account, and what is read ahead."""
    row = np.zeros(VOCABULARY.words, np.int32)
    least = matcher.min_tokens
    for budget in (least, least + 1, random.randrange(40)):
        try:
            matcher.fill_mask(row, budget)
        except BudgetError:
            assert budget < least
        else:
            assert row.any()
    assert matcher.forced_tokens() is not None
    assert len(matcher.next_bytes()) <= 256
    matcher.events()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_schemas_and_texts(seed: int) -> None:
    random = Random(seed)
    done = 0
    while done < SCHEMAS:
        drawn = fuzzed_schema(random)
        order = random.choice(["schema", "any"])
        try:
            if random.random() < 0.1:
                grammar = compile_regex(counted_pattern(random, "abé", 8), VOCABULARY)
            else:
                grammar = compile_json_schema(drawn, VOCABULARY, property_order=order)
        except MaskwrightError:  # which says what is wrong, or that nothing fits
            continue
        done += 1
        too_large = 0
        for _ in range(TEXTS):
            text: bytes | None = None
            try:
                text = fuzzed_text(random, grammar)
                check(grammar.matcher(), text, random)
            except (LimitError, TooLongError):  # what completes the text is too large
                too_large += 1
                if too_large == MOST_TOO_LARGE:
                    break
            except Exception as error:
                error.add_note(f"{json.dumps(drawn)} {order}: {text!r}")
                raise
