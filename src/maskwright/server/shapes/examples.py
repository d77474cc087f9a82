"""The shapes that ship with the package, with a text of each grammar."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from maskwright.server.json import Json

_WITHOUT_START: Final = "common.lark"
"""Terminals for other grammars."""


class Example(NamedTuple):
    """A shape by its name. `accepted` and `rejected` are texts that were written for it."""

    name: str
    kind: str
    shape: str
    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()


def examples() -> list[Json]:
    """All of them, the schemas first, each kind in alphabetical order."""
    return [each._asdict() for each in _shipped()]


@cache
def _shipped() -> tuple[Example, ...]:
    package = files("maskwright")
    schemas = sorted(
        (file for file in (package / "schemas").iterdir() if file.name.endswith(".json")),
        key=lambda file: file.name,
    )
    grammars = sorted(
        (file for file in (package / "grammars").iterdir() if file.name.endswith(".lark")),
        key=lambda file: file.name,
    )
    found = [
        Example(file.name.removesuffix(".json"), "schema", file.read_text(encoding="utf-8"))
        for file in schemas
    ]
    for file in grammars:
        if file.name != _WITHOUT_START:
            name = file.name.removesuffix(".lark")
            cases = tomllib.loads(
                (package / "grammars" / f"{name}.toml").read_text(encoding="utf-8")
            )
            accepted, rejected = tuple(cases["accepted"]), tuple(cases["rejected"])
            text = file.read_text(encoding="utf-8")
            found.append(Example(name, "lark", text, accepted, rejected))
    return tuple(found)
