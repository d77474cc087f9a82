"""Values that the collector of garbage doesn't look at are neither in a cycle nor in a chain."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import typing
from collections.abc import Iterator
from types import GenericAlias
from typing import Any

import pytest
from msgspec import Struct

import maskwright
from maskwright.immutable import Acyclic
from tests.test_layers import LAYERS

GRAMMAR_HALF = LAYERS[LAYERS.index("grammar") : LAYERS.index("instances")]


class Pair(Acyclic):
    first: int
    second: str = ""


class Link(Acyclic):
    """Refers to its own kind through a tuple, which `cycles` has to find."""

    rest: tuple[Link, ...] | None


def all_below(parent: type) -> Iterator[type]:
    for child in parent.__subclasses__():
        yield child
        yield from all_below(child)


def types_in(hint: Any) -> Iterator[type]:
    """The classes that a hint names, however deeply."""
    if isinstance(hint, type) and not isinstance(hint, GenericAlias):
        yield hint
    for part in typing.get_args(hint):
        yield from types_in(part)


def fields_of(kind: type) -> set[type]:
    """The classes of the fields of a class, its bases included, as far as it names them."""
    try:
        hints = typing.get_type_hints(kind)
    except (NameError, AttributeError):
        hints = {}  # a class that names its types for the type checker alone
    return {found for hint in hints.values() for found in types_in(hint)}


def cycles(kinds: set[type]) -> list[str]:
    """The names of the classes from whose fields a way leads back to them."""
    found: list[str] = []
    for kind in kinds:
        seen: set[type] = set()
        ahead = [kind]
        while ahead:
            for part in fields_of(ahead.pop()):
                below = {part, *all_below(part)} if issubclass(part, Struct) else {part}
                ahead += below - seen
                seen |= below
        if kind in seen:
            found.append(kind.__qualname__)
    return sorted(found)


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


def test_a_cycle_is_found() -> None:
    assert cycles({Pair, Link}) == ["Link"]


def test_no_value_refers_to_its_own_kind() -> None:
    for module in pkgutil.walk_packages(maskwright.__path__, "maskwright."):
        if module.name.split(".")[1] in GRAMMAR_HALF:
            importlib.import_module(module.name)
    kinds = {kind for kind in all_below(Acyclic) if kind.__module__.startswith("maskwright.")}
    assert cycles(kinds) == []
