"""The machine of JSON and that of rules, held against each other at each token.

A schema that can be written as rules runs on both: their masks are equal, but for escapes that no
name needs. Where a grammar leaves something of the schema open, it forbids nothing that the schema
allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from gzip import decompress
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, get_args

import pytest

from maskwright import Grammar, Matcher, compile_json_schema
from maskwright.errors import LimitError, UnsatisfiableSchemaError, UnsupportedSchemaError
from maskwright.grammar.schema.options import AdditionalProperties
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
OTHERS: tuple[AdditionalProperties, ...] = get_args(AdditionalProperties)
MOST_STEPS: Final = 20_000
"""Tokens up to the end of a text, once its free part is over."""
PARTS: Final = 40
"""Tests into which MaskBench is divided."""
FAR: Final = 2_000
"""Bytes up to which masks are compared along a text of MaskBench."""


class BothMachines(NamedTuple):
    """A schema on the machine of JSON and on that of rules."""

    schemas: Grammar
    rules: Grammar
    is_open: bool
    """Whether the rules leave something of the schema open."""


def both_machines(
    drawn: Any, layout: LayoutName, others: AdditionalProperties = "allow"
) -> BothMachines | None:
    """Compile a schema for both machines; None if it has no instances, on which both agree."""
    closed = others == "forbid"
    try:
        schemas = compile_json_schema(
            drawn,
            VOCAB,
            property_order="schema",
            whitespace=layout,
            escapes="needed",
            integers="digits",
            additional_properties=others,
        )
    except UnsatisfiableSchemaError:
        with pytest.raises(UnsatisfiableSchemaError):
            schema_rules(drawn, whitespace=layout, closed=closed)
        return None
    found = schema_rules(drawn, whitespace=layout, closed=closed, approximate=True)
    return BothMachines(schemas, compile_rules(found.rules, VOCAB), bool(found.losses))


def check_both(drawn: Any, layout: LayoutName, random: Random) -> None:
    """Compare the masks along texts of a schema."""
    both = both_machines(drawn, layout)
    if both is not None:
        for _ in range(5):
            walk(both, random, steps=random.randrange(20))


def walk(both: BothMachines, random: Random, *, steps: int, along: bytes = b"") -> None:
    """Compare each mask on the way through a text: along a given one as far as both machines allow
    it, then through some drawn tokens, then to the nearest end."""
    schemas, rules, is_open = both
    matcher, twin = schemas.matcher(), rules.matcher()
    text = b""
    for _ in range(len(along) + steps + MOST_STEPS):
        wanted, got = allowed(matcher), allowed(twin)
        missing = [token for token in wanted - got if not is_respelled(matcher, token, text, rules)]
        assert not missing, f"the rules forbid {spelled(missing)} behind {text!r}"
        more = spelled(got - wanted)
        assert is_open or not more, f"the rules allow {more} behind {text!r}"
        common = sorted(wanted & got)
        following = next_of(along, text, common)
        if following is None and steps > 0:
            steps -= 1
        elif following is None:
            ending = VOCAB.eos if matcher.accepting else allowed(matcher, matcher.min_tokens)
            common = sorted({*ending} & got)
        if not common:
            assert is_open
            return
        token = random.choice(common) if following is None else following
        assert matcher.accept(token)
        assert twin.accept(token)
        if matcher.terminated:
            return
        text += VOCAB.tokens[token]
    pytest.fail(f"{text!r} has not come to an end")


def next_of(along: bytes, text: bytes, common: Iterable[int]) -> int | None:
    """The longest of some tokens by which `text` goes on along another text, if there is one."""
    if not along.startswith(text):
        return None
    fitting = [
        t for t in common if VOCAB.tokens[t] and along.startswith(VOCAB.tokens[t], len(text))
    ]
    return max(fitting, key=lambda token: len(VOCAB.tokens[token]), default=None)


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


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_masks_of_both_machines_on_maskbench(part: int, shared_data: Callable[[str], Path]) -> None:
    """Real schemas, with members that they don't list and without: along their own texts, each as
    far as it keeps to the schema's order, and along drawn ones. Without further members, two
    thirds of them are grammars."""
    lines = decompress(shared_data("maskbench-dev.jsonl.gz").read_bytes()).decode().splitlines()
    exact: dict[AdditionalProperties, list[bool]] = {others: [] for others in OTHERS}
    for line in lines[part::PARTS]:
        case = json.loads(line)
        random = Random(case["id"])
        for others, answers in exact.items():
            with naming(f"{case['id']}, others: {others}"):
                answers.append(check_case(case, others, random))
    assert sum(exact["forbid"]) > len(exact["forbid"]) / 2


@contextmanager
def naming(name: str) -> Generator[None]:
    """Say in which of many cases something fails."""
    try:
        yield
    except BaseException as error:
        error.add_note(name)
        raise


def check_case(case: dict[str, Any], others: AdditionalProperties, random: Random) -> bool:
    """Compare masks for a case of MaskBench. Return whether its rules say all of the schema."""
    try:
        both = both_machines(case["schema"], "spaced", others)
    except LimitError:
        return False
    if both is None:
        return False
    texts = [json.dumps(test["data"], ensure_ascii=False) for test in case["tests"]]
    for along in ("", *dict.fromkeys(texts[:3])):
        walk(both, random, steps=10, along=along.encode()[:FAR])
    return not both.is_open


def is_respelled(matcher: Matcher, token: int, text: bytes, rules: Grammar) -> bool:
    """Whether a token that the rules forbid is part of an escape that JSON doesn't need: without
    it, they allow a text that goes on so. Rules write listed names and strings in one way, the
    machine of JSON only where nothing but listed ones may come."""
    after = matcher.copy()
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
