"""Texts of any shape that together use each of its alternatives, and what they leave out."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from maskwright.grammar.rules.tree import JsonValue, Rules
from maskwright.grammar.schema.tree import Json
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.mask import Grammar
from maskwright.mask.compile.rules import compile_rules
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.sample.coverage import SchemaCoverage
from maskwright.workbench.sample.derivations import covering_texts
from maskwright.workbench.sample.samples import exploring_texts, plain_json, shortest_text

MOST_TEXTS: Final = 600
"""Texts of a schema that are tried."""
IN_VAIN: Final = 200
"""Texts in a row that use nothing new, after which no more are tried."""


class Covered(NamedTuple):
    """Texts, each with the alternatives that none before it uses; and the alternatives that no text
    uses."""

    texts: tuple[tuple[str, tuple[str, ...]], ...]
    missing: tuple[str, ...]
    alternatives: int
    """How many alternatives there are."""


def covered_schema(schema: Json, grammar: Grammar, limit: int, seed: int) -> Covered:
    """Values that use every part of a schema, in texts of at most `limit` bytes. They are searched
    for, so that parts may be missing which a value could use."""
    coverage = SchemaCoverage(schema)
    left = set(coverage.items)
    texts: list[tuple[str, tuple[str, ...]]] = []
    in_vain = 0
    for number, data in enumerate(exploring_texts(grammar, limit, seed), 1):
        text = plain_json(data.decode())
        new = coverage.of(json.loads(text)) & left
        left -= new
        in_vain = 0 if new else in_vain + 1
        if new:
            texts.append((text, tuple(sorted(new))))
        if not left or number == MOST_TEXTS or in_vain == IN_VAIN:
            break
    return Covered(tuple(texts), tuple(sorted(left)), len(coverage.items))


def covered_rules(rules: Rules) -> Covered:
    """Texts that use every alternative of a grammar's rules. None is missing."""
    with Work(DEFAULT_LIMITS):
        alternatives = covering_texts(rules, _value_text)
    texts: dict[str, list[str]] = {}
    for rule, number, text in alternatives:
        texts.setdefault(text, []).append(f"{rule}:{number}")
    rows = tuple((text, tuple(names)) for text, names in texts.items())
    return Covered(rows, (), len(alternatives))


def _value_text(value: JsonValue) -> str:
    """The shortest text of a JSON value that stands in a grammar."""
    grammar = compile_rules(Rules("value", {"value": value}), byte_vocabulary())
    return shortest_text(grammar).decode()
