"""Conjunctions, shapes and solvers of schemas, without a grammar around them."""

from __future__ import annotations

from typing import Any

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import DEFAULT_LIMITS


def conjunction(schema: Any) -> Conjunction:
    return frozenset([parse_schema(schema, ParseOptions()).root])


def solver(order: PropertyOrder = "any") -> Solver:
    return Solver(order, DEFAULT_LIMITS)


def start(schema: Any, solving: Solver | None = None) -> Progress:
    """The one array or object that a schema allows, before its first item or member."""
    (found,) = (solving or solver()).values.containers(conjunction(schema))
    return found


def array(schema: Any) -> ArrayProgress:
    found = start({"type": "array", **schema})
    assert isinstance(found, ArrayProgress)
    return found


def object_(schema: Any) -> ObjectProgress:
    found = start({"type": "object", **schema})
    assert isinstance(found, ObjectProgress)
    return found
