"""Questions that are given up at any step: all tables stay usable, and say what they said.

Each case is asked with faults thrown at steps drawn at random; then it goes on, in the grammar that
was given up, in the same grammar compiled again, and in others of the vocabulary. The masks must be
those of tables that nothing ever happened to.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from random import Random
from typing import Any

import pytest

from maskwright import (
    Grammar,
    Vocabulary,
    compile_json_schema,
    compile_regex,
)
from maskwright.mask.compile.rules import compile_rules
from tests.mask.abandoned import faults, forget, observe
from tests.matching import BYTES
from tests.properties.algebra_cases import ALGEBRA
from tests.properties.container_cases import CONTAINERS
from tests.properties.naive_rules import draw_rules
from tests.properties.patterns import pattern
from tests.properties.schema_cases import CASES, TOKENS
from tests.properties.schemas import combined, schema

Compile = Callable[[Vocabulary], Grammar]


@pytest.fixture(autouse=True, scope="module")
def earlier_objects_are_not_searched() -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    """Each case collects garbage several times, which would otherwise search all that modules and
    earlier tests hold: up to seconds each time in a run of many tests."""
    forget()
    gc.freeze()
    yield
    gc.unfreeze()


def fresh() -> Vocabulary:
    """A vocabulary without tables."""
    tokens = (*BYTES, *(token.encode() for token in TOKENS), b"")
    return Vocabulary(tokens, eos=len(tokens) - 1)


def of_schema(drawn: Any, order: str = "any") -> Compile:
    return lambda vocab: compile_json_schema(drawn, vocab, property_order=order)  # pyright: ignore[reportArgumentType]


def of_rules(seed: int) -> Compile:
    rules = draw_rules(Random(seed))
    return lambda vocab: compile_rules(rules.real(), vocab)


WRITTEN: dict[str, Compile] = {
    **{case.name: of_schema(case.schema, case.order) for case in (*CASES, *ALGEBRA, *CONTAINERS)},
}
DRAWN: dict[str, Compile] = {
    **{f"schema {n}": of_schema(schema(Random(n))) for n in range(20)},
    **{f"combined {n}": of_schema(combined(Random(n))) for n in range(20)},
    **{f"rules {n}": of_rules(n) for n in range(30)},
    **{
        f"pattern {n}": lambda vocab, n=n: compile_regex(pattern(Random(n), 6), vocab)
        for n in range(30)
    },
}
ALL = {**WRITTEN, **DRAWN}


def alone(name: str) -> list[Any]:
    """What a grammar offers over tables of its own."""
    forget()
    vocab = fresh()
    return observe(lambda: ALL[name](vocab), name)


def check(name: str, seed: int) -> int:
    """Returns how many faults were thrown."""
    random = Random(f"{name} {seed}")
    other = random.choice(list(ALL))
    expected = {each: alone(each) for each in (name, other)}
    forget()
    vocab = fresh()
    with faults(random) as thrown:
        assert observe(lambda: ALL[name](vocab), name, thrown.ask) == expected[name]
    for each in (other, name):
        assert observe(lambda e=each: ALL[e](vocab), each) == expected[each], each
    return thrown.thrown


SAMPLE = ["patterns and a declared name", *list(WRITTEN)[::8], *list(DRAWN)[::5]]


@pytest.mark.parametrize("name", SAMPLE)
def test_masks_after_questions_that_were_given_up(name: str) -> None:
    check(name, 0)
