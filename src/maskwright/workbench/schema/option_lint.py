"""What is found in the options and properties of a schema: those that no value matches, and options
that share values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

from maskwright.workbench.findings.finding import Finding
from maskwright.workbench.pointer import pointer_of
from maskwright.workbench.schema.solved_parts import SolvedParts

MOST_OPTIONS: Final = 12
"""Options of an `anyOf` or `oneOf` up to which each is compared with each."""
_KINDS: Final = frozenset({"type", "$ref", "enum", "const", "properties", "pattern", "format"})
"""Keywords that say what kind of value an option is. Others, such as `required` alone, only add a
condition to what stands beside the union, and are meant to hold together."""


def impossible(pointer: str, schema: dict[str, Any], parts: SolvedParts) -> Iterator[Finding]:
    """Options, items and properties that no value satisfies."""
    for keyword in ("anyOf", "oneOf"):
        for index, option in enumerate(schema.get(keyword, [])):
            at = f"{pointer}/{keyword}/{index}"
            if parts.is_impossible(option, at):
                message = "this option is never taken: no value matches it"
                yield Finding(at, "warning", "unsatisfiable", message)
    items = schema.get("items")
    if isinstance(items, dict) and parts.is_impossible(items, f"{pointer}/items"):
        message = "there is never an item here: no value matches it"
        yield Finding(f"{pointer}/items", "warning", "unsatisfiable", message)
    properties = schema.get("properties")
    for name, value in properties.items() if isinstance(properties, dict) else ():
        at = pointer + pointer_of("properties", name)
        if value is not False and parts.is_impossible(value, at):
            message = f"the property {name!r} never occurs: no value matches it"
            yield Finding(at, "warning", "unsatisfiable", message)


def shared_values(pointer: str, schema: dict[str, Any], parts: SolvedParts) -> Iterator[Finding]:
    """Options with values that another option has, too. Each later option is told once."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword, [])
        if len(options) > MOST_OPTIONS:
            continue
        told: set[int] = set()
        for (first, one), (second, other) in combinations(enumerate(options), 2):
            if second in told or not (_says_kind(one) and _says_kind(other)):
                continue
            at = f"{pointer}/{keyword}"
            pair = (one, f"{at}/{first}"), (other, f"{at}/{second}")
            if parts.share_values(*pair, around=(schema, pointer)):
                told.add(second)
                yield _shared(keyword, f"{at}/{second}", f"{at}/{first}")


def _shared(keyword: str, pointer: str, other: str) -> Finding:
    if keyword == "oneOf":
        message = f"values that match this option and #{other} as well are refused"
        return Finding(pointer, "warning", "ambiguous", message)
    message = f"a value may match this option and #{other} as well"
    return Finding(pointer, "note", "ambiguous", message)


def _says_kind(option: Any) -> bool:
    return isinstance(option, dict) and not _KINDS.isdisjoint(option)
