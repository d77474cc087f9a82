"""JSON Schema masks against brute force: neither a token too many nor one too few."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from maskwright import Vocabulary, compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError
from tests.matching import EVERY_BYTE, vocabulary
from tests.properties.algebra_cases import ALGEBRA
from tests.properties.container_cases import CONTAINERS
from tests.properties.exactness import check_exact
from tests.properties.judge import Judge
from tests.properties.orders import is_plain
from tests.properties.schema_cases import CASES, CHARACTER_TOKENS, FORMATTED, STRINGS, TOKENS, Case
from tests.properties.schemas import combined, schema
from tests.properties.universe import Blocks, Text, universe
from tests.walks.samples import sampled

ALPHABET = '{}[]",:0123456789.-\\truefalsnbcdADEF /\n'
DECLARED = (*CASES, *ALGEBRA, *CONTAINERS)
EVERY_CASE = [pytest.param(case, id=case.name) for case in DECLARED]


def declares(drawn: Any) -> bool:
    """Whether the order of properties can make a difference."""
    return '"properties"' in json.dumps(drawn)


def in_other_order() -> list[Any]:
    """Each case that declares properties, in the order that it isn't listed in."""
    listed = {(repr(case.schema), case.order) for case in DECLARED}
    others = (
        case._replace(order="any" if case.order == "schema" else "schema")
        for case in DECLARED
        if declares(case.schema)
    )
    return [
        pytest.param(case, id=f"{case.name}, {case.order}")
        for case in others
        if (repr(case.schema), case.order) not in listed
    ]


@cache
def small(without: tuple[str, ...] = ()) -> Vocabulary:
    return vocabulary(*(each for each in TOKENS if each not in without), alphabet=ALPHABET)


WHOLE = vocabulary(*TOKENS, *CHARACTER_TOKENS)
"""For strings, where every byte may come."""


@pytest.mark.parametrize("case", [*sampled(EVERY_CASE, 80), *sampled(in_other_order(), 6)])
def test_masks_of_schemas(case: Case) -> None:
    vocab = WHOLE if case.blocks in (STRINGS, FORMATTED) else small(case.without)
    _check(case.schema, case.order, vocab, case.blocks, says_something=True)


MIXED = Blocks(scalars=("1", "2", '"a"', "null"), names=('"a"', '"b"'), arrays=True, longest=11)
RANDOM = [schema(Random(seed)) for seed in range(60)]
COMBINED = [combined(Random(seed)) for seed in range(28)]


def in_orders(drawn: list[Any]) -> list[Any]:
    """A seed and an order each; order "schema" only where it can make a difference."""
    return [
        pytest.param(seed, order, id=f"{seed}-{order}")
        for order in ("any", "schema")
        for seed, each in enumerate(drawn)
        if order == "any" or declares(each)
    ]


@pytest.mark.parametrize(("seed", "order"), sampled(in_orders(RANDOM), 24))
def test_masks_of_random_schemas(seed: int, order: str) -> None:
    _check(RANDOM[seed], order, small(), MIXED, seed=seed)


@pytest.mark.parametrize(("seed", "order"), sampled(in_orders(COMBINED), 16))
def test_masks_of_combined_schemas(seed: int, order: str) -> None:
    _check(COMBINED[seed], order, small(), MIXED, seed=seed)


def _check(
    drawn: Any,
    order: str,
    vocab: Vocabulary,
    blocks: Blocks,
    *,
    seed: int = 0,
    says_something: bool = False,
) -> None:
    values = Judge(drawn)
    valid = [text for text in universe(blocks) if values.value(text.value)]
    assert valid or not says_something, "the case says nothing: no text of the universe is valid"
    try:
        grammar = compile_json_schema(drawn, vocab, property_order=order)
    except UnsatisfiableSchemaError:
        assert not valid, drawn
        return
    judge: Callable[[bytes], bool] = values
    if order == "schema":
        judge = Judge(drawn, order) if is_plain(drawn) else _as_read(drawn, values)
    language = [text.data for text in valid if judge(text.data)]
    if order == "schema":
        _check_that_each_value_can_be_written(valid, language)
    check_exact(grammar, language, judge, seed=seed)


def _as_read(drawn: Any, values: Judge) -> Callable[[bytes], bool]:
    """Where the order can't be judged: valid values, in the orders that a machine over bytes reads.
    So masks are held against bytes, and both against the values."""
    grammar = compile_json_schema(drawn, EVERY_BYTE, property_order="schema")

    def right(text: bytes) -> bool:
        matcher = grammar.matcher()
        read = matcher.accept_bytes(text) == len(text) and matcher.accepting
        assert not read or values(text), f"{text!r} is accepted, but not valid"
        return read

    return right


def _check_that_each_value_can_be_written(valid: list[Text], language: list[bytes]) -> None:
    """In order "schema", every value has an order of its names that is allowed."""
    written = {canonical(text) for text in language}
    lost = [text.data for text in valid if canonical(text.data) not in written]
    assert lost == []


def canonical(text: bytes) -> str:
    return json.dumps(json.loads(text), sort_keys=True)
