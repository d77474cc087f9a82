"""Objects that are alive, by key: what `weakref.WeakValueDictionary` does, in a few nanoseconds.

Terms are looked up each time that one is made, and mostly there is none yet.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

class Kept:
    """An object that `Interned` finds, under one key at most, until it is gone."""

_T = TypeVar("_T", bound=Kept)

class Interned(Generic[_T]):
    """Doesn't keep its values alive. The keys must not refer to them."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def get(self, key: Hashable, /) -> _T | None:
        """The value of a key, None if it has none that is alive."""
    def keep(self, key: Hashable, value: _T, /) -> _T:
        """Make `value` that of the key, and return it."""
