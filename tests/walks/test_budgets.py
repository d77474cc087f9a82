"""Random walks within budgets in every kind of grammar: each text ends in time, complete and valid.

The budgets reach from what the shortest text needs to ample ones. What matters most are names that
a schema doesn't list, and counts: there, what completes a text depends on what has been written.
"""

from __future__ import annotations

import json
from random import Random

import pytest

from benchmarks.vocabularies import tekken
from tests.matching import vocabulary
from tests.properties.judge import validator
from tests.walks.cases import GRAMMARS, SCHEMAS, Chooser, walk
from tests.walks.samples import sampled

SMALL = vocabulary(
    *(
        '":',
        '{"',
        '"}',
        '",',
        '","',
        '":"',
        '": ',
        ', "',
        '":{"',
        "[]",
        "{}",
        "[[",
        "}}",
        '"]',
        "],",
    ),
    *("ab", "abc", "name", "age", '"name"', '":0', '":1,"', "true", "12", "  ", "\n", "\\u00", "é"),
)
LONG = "more than is followed at once, any, compact"
"""A walk that takes half a minute."""
BUDGETS = (0, 0, 1, 1, 2, 3, 5, 8, 13, 40)
"""Tokens to spare beyond what the first mask needs."""
REAL = [
    "three, one listed, any, compact",
    "names that aren't listed, any, compact",
    "map of languages, schema, flexible",
    "contains, any, compact",
    "unique, any, compact",
    "tools, hermes, one",
    "JSON in Lark",
    "tag, sequence",
]
"""Those that are also tried with a vocabulary of real size."""


@pytest.mark.parametrize(
    "name",
    [
        *sampled([name for name in GRAMMARS if name != LONG], 32),
        pytest.param(LONG, marks=pytest.mark.slow),
    ],
)
def test_walks_end_within_their_budgets(name: str) -> None:
    grammar = GRAMMARS[name](SMALL)
    random = Random(name)
    chooser = Chooser(SMALL, random)
    schema = SCHEMAS.get(name.rsplit(", ", 2)[0])
    for spare in BUDGETS:
        text = walk(grammar, grammar.min_tokens + spare, chooser, random)
        if schema is not None:
            assert validator(schema).is_valid(json.loads(text)), text


@pytest.mark.parametrize("name", sampled(REAL, 4))
def test_walks_over_a_vocabulary_of_real_size(name: str) -> None:
    vocab = tekken()
    grammar = GRAMMARS[name](vocab)
    random = Random(name)
    chooser = Chooser(vocab, random)
    for spare in (0, 1, 2, 4, 9, 30):
        walk(grammar, grammar.min_tokens + spare, chooser, random)
