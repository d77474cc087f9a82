"""Values of named fields, which are made by the hundred thousand while schemas are read and masks
computed.

`msgspec` makes one in a tenth of the time that a frozen dataclass takes, and its class in a
fiftieth: docs/decisions/0027-values-by-msgspec.md.
"""

from __future__ import annotations

from typing import dataclass_transform

from msgspec import Struct


@dataclass_transform(frozen_default=True)
class Immutable(Struct, frozen=True):
    """Fields that are set once. Values of one class with equal fields are equal."""


@dataclass_transform(frozen_default=True)
class Acyclic(Immutable, gc=False):
    """An `Immutable` that the collector of garbage doesn't look at, nor at tuples of nothing else.

    Its fields are plain data (numbers, texts, members of enumerations, values of JSON, containers
    and other `Acyclic`s of these), or lead to no value that has them: languages and schemas. A
    value that led back to itself would never be freed, and a long chain would be freed by
    recursion. See `garbage` for what is no such value.
    """
