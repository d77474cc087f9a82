"""The machine of JSON and that of rules, held against each other at each token.

A schema that can be written as rules runs on both: their masks are equal, but for escapes that no
name needs. Where a grammar leaves something of the schema open, it forbids nothing that the schema
allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from random import Random
from typing import Any, get_args

import pytest

from maskwright import Grammar, Matcher, compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError, UnsupportedSchemaError
from maskwright.mask.compile.rules import compile_rules
from maskwright.workbench.choices import LayoutName
from maskwright.workbench.conversion.schema_rules import schema_rules
from tests.matching import allowed, matches, shortest_ending, vocabulary
from tests.properties.algebra_cases import ALGEBRA
from tests.properties.container_cases import CONTAINERS
from tests.properties.schema_cases import CASES, CHARACTER_TOKENS, TOKENS
from tests.properties.schemas import NAMES, combined, schema
from tests.walks.samples import sampled

VOCAB = vocabulary(*TOKENS, *CHARACTER_TOKENS, '": ', '", "', '1, "', '": 1')
ESCAPE = re.compile(r"(?:\\u[Dd][89ABab]..)?\\(?:u....|.)")
LAYOUTS: tuple[LayoutName, ...] = get_args(LayoutName)


def check_both(drawn: Any, layout: LayoutName, random: Random) -> None:
    """Compare the masks along texts of a schema; if it has no instances, neither machine has it."""
    options: dict[str, Any] = {"whitespace": layout, "escapes": "needed", "integers": "digits"}
    try:
        theirs = compile_json_schema(drawn, VOCAB, property_order="schema", **options)
    except UnsatisfiableSchemaError:
        with pytest.raises(UnsatisfiableSchemaError):
            schema_rules(drawn, whitespace=layout)
        return
    found = schema_rules(drawn, whitespace=layout, approximate=True)
    ours = compile_rules(found.rules, VOCAB)
    for _ in range(5):
        walk(theirs, ours, random, is_open=bool(found.losses))


def walk(schemas: Grammar, rules: Grammar, random: Random, *, is_open: bool) -> None:
    """Draw some tokens that both machines allow, then come to an end, and compare each mask."""
    matcher, twin = schemas.matcher(), rules.matcher()
    free = random.randrange(20)
    text = b""
    for step in range(60):
        wanted, got = allowed(matcher), allowed(twin)
        missing = [token for token in wanted - got if not is_respelled(matcher, token, text, rules)]
        assert not missing, f"the rules forbid {spelled(missing)} behind {text!r}"
        more = spelled(got - wanted)
        assert is_open or not more, f"the rules allow {more} behind {text!r}"
        common = sorted(wanted & got)
        if step >= free:
            ending = VOCAB.eos if matcher.accepting else allowed(matcher, matcher.min_tokens)
            common = sorted({*ending} & got)
        if not common:
            assert is_open
            return
        token = random.choice(common)
        assert matcher.accept(token)
        assert twin.accept(token)
        if matcher.terminated:
            return
        text += VOCAB.tokens[token]
    pytest.fail(f"{text!r} has not come to an end")


def with_others(random: Random) -> Any:
    """An object whose properties, required names and rules for other names meet."""
    values: list[Any] = [{"const": 1}, {"enum": ["a", None]}, {"type": "boolean"}, False]
    names = random.sample(NAMES, random.randint(0, 2))
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: random.choice(values) for name in names},
        "required": random.sample(names, random.randint(0, len(names))),
    }
    found |= random.choice(
        [
            {"propertyNames": {"enum": [*NAMES, "d"]}},
            {"propertyNames": {"pattern": "^[ab]{1,2}$"}},
            {"patternProperties": {"^[a-e]$": random.choice(values)}},
            {"maxProperties": random.randint(1, 2)},
            {},
        ]
    )
    if "patternProperties" in found or random.random() < 0.5:
        found["additionalProperties"] = random.choice([False, False, {"const": 1}])
    if random.random() < 0.2:
        found["required"] = [*found["required"], "d"]
    if random.random() < 0.2:
        found["minProperties"] = random.randint(1, 2)
    return found


DECLARED = [(case.name, case.schema) for case in (*CASES, *ALGEBRA, *CONTAINERS)]
DRAWN = [
    (f"{kind.__name__} {seed}", kind(Random(seed)))
    for kind in (schema, combined, with_others)
    for seed in range(80)
]


@pytest.mark.parametrize(
    "drawn", sampled([pytest.param(each, id=name) for name, each in (*DECLARED, *DRAWN)], 180)
)
def test_masks_of_both_machines(drawn: Any) -> None:
    random = Random(repr(drawn))
    check_both(drawn, random.choice(LAYOUTS), random)


def test_many_schemas_are_lowered() -> None:
    """Many schemas are compared in full, not only those of a few kinds."""

    def is_lowered(drawn: Any) -> bool:
        try:
            schema_rules(drawn)
        except (UnsupportedSchemaError, UnsatisfiableSchemaError):
            return False
        return True

    lowered = [name for name, drawn in DRAWN if is_lowered(drawn)]
    for kind, least in ((schema, 25), (combined, 5), (with_others, 20)):
        assert sum(name.startswith(kind.__name__) for name in lowered) >= least


def is_respelled(matcher: Matcher, token: int, text: bytes, rules: Grammar) -> bool:
    """Whether a token that the rules forbid is part of an escape that JSON doesn't need: without
    it, they allow a text that goes on so. Rules write listed names and strings in one way, the
    machine of JSON only where nothing but listed ones may come."""
    after = matcher.fork()
    assert after.accept(token)
    if after.terminated:
        return False
    whole = text + VOCAB.tokens[token] + shortest_ending(after)
    plain = ESCAPE.sub(unescaped, whole.decode()).encode()
    return plain != whole and matches(rules, plain)


def unescaped(escape: re.Match[str]) -> str:
    """The character itself where it may stand in a string of JSON."""
    character = json.loads(f'"{escape[0]}"')
    return escape[0] if character in '"\\' or character < " " else character


def spelled(tokens: Iterable[int]) -> list[bytes]:
    return [VOCAB.tokens[token] for token in sorted(tokens)]
