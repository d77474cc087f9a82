"""JSON Schema masks against brute force: neither a token too many nor one too few."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest

from maskwright import Vocabulary, compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError
from tests.matching import vocabulary
from tests.properties.algebra_cases import ALGEBRA
from tests.properties.container_cases import CONTAINERS
from tests.properties.exactness import check_exact
from tests.properties.judge import Judge
from tests.properties.schema_cases import CASES, CHARACTER_TOKENS, FORMATTED, STRINGS, TOKENS, Case
from tests.properties.schemas import combined, schema
from tests.properties.universe import Blocks, universe

ALPHABET = '{}[]",:0123456789.-\\truefalsnbcdADEF /\n'
EVERY_CASE = [pytest.param(case, id=case.name) for case in (*CASES, *ALGEBRA, *CONTAINERS)]


@cache
def small(without: tuple[str, ...] = ()) -> Vocabulary:
    return vocabulary(*(each for each in TOKENS if each not in without), alphabet=ALPHABET)


WHOLE = vocabulary(*TOKENS, *CHARACTER_TOKENS)
"""For strings, where every byte may come."""


@pytest.mark.parametrize("case", EVERY_CASE)
def test_masks_of_schemas(case: Case) -> None:
    vocab = WHOLE if case.blocks in (STRINGS, FORMATTED) else small(case.without)
    grammar = compile_json_schema(case.schema, vocab, property_order=case.order)
    judge = Judge(case.schema, case.order)
    language = [text.data for text in universe(case.blocks) if judge.value(text.value)]
    assert language, "the case says nothing: no text of the universe is valid"
    check_exact(grammar, language, judge)


MIXED = Blocks(scalars=("1", "2", '"a"', "null"), names=('"a"', '"b"'), arrays=True, longest=11)
SEEDS = range(60)


COMBINED = range(28)


@pytest.mark.parametrize("seed", SEEDS)
def test_masks_of_random_schemas(seed: int) -> None:
    _check(schema(Random(seed)), seed)


@pytest.mark.parametrize("seed", COMBINED)
def test_masks_of_combined_schemas(seed: int) -> None:
    _check(combined(Random(seed)), seed)


def _check(drawn: Any, seed: int) -> None:
    judge = Judge(drawn)
    language = [text.data for text in universe(MIXED) if judge.value(text.value)]
    try:
        grammar = compile_json_schema(drawn, small(), property_order="any")
    except UnsatisfiableSchemaError:
        assert not language, drawn
        return
    check_exact(grammar, language, judge, seed=seed)
