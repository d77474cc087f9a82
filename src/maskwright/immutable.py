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

    No value may refer to itself through its fields, since it would never be freed, nor may there be
    a chain of any length, since one is freed by recursion. `tests/test_immutable.py` looks for both
    in the types of the fields.
    """
