"""Values that the collector of garbage doesn't look at are plain data."""

from __future__ import annotations

import dataclasses
import gc
import importlib
import pkgutil
import typing
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import GenericAlias, NoneType
from typing import Any, ClassVar, Final

import numpy as np
import pytest
from msgspec import Struct

import maskwright
from maskwright.automaton.value.witness_text import ArrayWitness, ObjectWitness
from maskwright.grammar.regular.terms import Regular, WordList
from maskwright.grammar.schema.tree import Assertion, Schema, TypeIs
from maskwright.immutable import Acyclic, Immutable
from tests.test_layers import LAYERS

PLAIN: Final = {
    *(NoneType, bool, int, float, str, bytes, tuple, list, dict, set, frozenset),
    Any,  # in values of JSON
    *(np.int32, np.uint64, WordList),
}
LEAD_TO_THEIR_OWN: Final = {
    *(Regular, Schema, *typing.get_args(Assertion)),
    *(ArrayWitness, ObjectWitness),
}
"""Classes whose objects lead to each other, and to none that has them in a field: languages,
schemas, and values of JSON."""
CHECKED_AS_THEY_ARE: Final = {
    "ObjectShape": ["others"],  # `test_garbage.py` follows what is called there
    "Outline": ["scalars", "excluded"],  # a pair of a type's name and a value that can be hashed
}
GRAMMAR_HALF: Final = LAYERS[LAYERS.index("grammar") : LAYERS.index("instances")]


class Pair(Acyclic):
    first: int
    second: str = ""


class Link(Acyclic):
    """A chain of its own kind."""

    rest: tuple[Link, ...] | None


class Loose(Immutable):
    number: int


class Holder(Acyclic):
    pair: tuple[Pair, Loose]
    call: Callable[[int], int]


def all_below(parent: type) -> Iterator[type]:
    for child in parent.__subclasses__():
        yield child
        yield from all_below(child)


def types_in(hint: Any) -> Iterator[type]:
    """The classes that a hint names, however deeply; `object` for a function."""
    if typing.get_origin(hint) is Callable:
        yield object
        return
    if isinstance(hint, type) and not isinstance(hint, GenericAlias):
        yield hint
    for part in typing.get_args(hint):
        yield from types_in(part)


def is_plain(kind: type) -> bool:
    return (
        issubclass(kind, Acyclic | Enum | Decimal | Fraction)
        or kind in PLAIN | LEAD_TO_THEIR_OWN
        or kind.__module__ == "collections.abc"
    )


def fields_that_are_not_plain(kind: type) -> dict[str, list[str]]:
    """By the name of a field, its classes from which a way may lead back to the value."""
    found: dict[str, list[str]] = {}
    for name, hint in typing.get_type_hints(kind).items():
        classes = [each.__qualname__ for each in types_in(hint) if not is_plain(each)]
        classes += [each.__qualname__ for each in types_in(hint) if each in kind.__mro__[:-1]]
        if classes and typing.get_origin(hint) is not ClassVar:
            found[name] = classes
    return found


def test_fields_are_set_once() -> None:
    pair = Pair(1)
    with pytest.raises(AttributeError):
        pair.first = 2
    assert pair == Pair(1, "")
    assert hash(pair) == hash(Pair(1))
    assert repr(pair) == "Pair(first=1, second='')"


def test_the_collector_looks_at_neither_values_nor_tuples_of_them() -> None:
    pairs = (Pair(1), Pair(2))
    gc.collect(0)
    assert not gc.is_tracked(pairs[0])
    assert not gc.is_tracked(pairs)


def test_fields_that_are_not_plain_are_found() -> None:
    assert fields_that_are_not_plain(Pair) == {}
    assert fields_that_are_not_plain(Link) == {"rest": ["Link"]}
    assert fields_that_are_not_plain(Holder) == {"pair": ["Loose"], "call": ["object"]}


def test_values_that_the_collector_does_not_see_are_plain() -> None:
    for module in pkgutil.walk_packages(maskwright.__path__, "maskwright."):
        if module.name.split(".")[1] in (*GRAMMAR_HALF, "processes", "sampling"):
            importlib.import_module(module.name)
    kinds = [kind for kind in all_below(Acyclic) if kind.__module__.startswith("maskwright.")]
    assert TypeIs in kinds
    found = {kind.__qualname__: fields_that_are_not_plain(kind) for kind in kinds}
    assert {kind: [*fields] for kind, fields in found.items() if fields} == CHECKED_AS_THEY_ARE


def test_no_default_is_a_field_of_dataclasses() -> None:
    """It would be the value itself, and no checker of types says so."""
    for module in pkgutil.walk_packages(maskwright.__path__, "maskwright."):
        if module.name.split(".")[1] not in ("integrations", "__main__"):
            importlib.import_module(module.name)
    kinds = [kind for kind in all_below(Struct) if kind.__module__.startswith("maskwright")]
    assert len(kinds) > 100
    for kind in kinds:
        assert not any(isinstance(each, dataclasses.Field) for each in kind.__struct_defaults__)
