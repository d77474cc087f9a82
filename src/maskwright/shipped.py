"""The schemas and grammars that ship with the package, by name. No schema has the name of a
grammar.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Literal, TypeAlias

ShippedKind: TypeAlias = Literal["schema", "grammar"]

KINDS: Final[tuple[ShippedKind, ...]] = ("schema", "grammar")
_SUFFIXES: Final[dict[ShippedKind, str]] = {"schema": ".json", "grammar": ".lark"}
_NO_GRAMMAR: Final = "common"
"""Terminals for other grammars."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """One of the schemas or grammars. `cases`: the file with the texts that were written for a
    grammar."""

    name: str
    kind: ShippedKind
    file: Traversable
    cases: Traversable


@cache
def shipped(kind: ShippedKind) -> dict[str, Shipped]:
    """All of a kind, by name, in alphabetical order."""
    folder, suffix = files("maskwright") / f"{kind}s", _SUFFIXES[kind]
    ends = (file.name for file in folder.iterdir() if file.name.endswith(suffix))
    names = sorted(name.removesuffix(suffix) for name in ends)
    return {
        name: Shipped(name, kind, folder / f"{name}{suffix}", folder / f"{name}.toml")
        for name in names
        if name != _NO_GRAMMAR
    }
