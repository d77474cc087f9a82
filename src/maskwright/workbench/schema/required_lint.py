"""Finds required properties that no schema for the same object lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from maskwright.workbench.findings.finding import Finding

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONS: Final = ("not", "if")
_FOLLOWING: Final = ("then", "else")
_ELSEWHERE: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "patternProperties"})
"""Keywords by which a property may be described although its name isn't listed."""


@dataclass(slots=True)
class _SameValue:
    """The schemas for one value: one schema and all within its unions and conditions."""

    names: set[str] = field(default_factory=set[str])
    """The properties that any of them lists."""
    is_known: bool = True
    """Whether there are no others that are described elsewhere."""


def unlisted(parts: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    """Required properties that may have any value and come after all that are listed. `parts`: all
    schemas of a document with their pointers, the outer ones first."""
    parts = list(parts)
    groups: dict[int, _SameValue] = {}
    conditions: set[int] = set()
    for _, part in parts:
        group = groups.setdefault(id(part), _SameValue())
        group.names.update(_listed(part))
        group.is_known &= _ELSEWHERE.isdisjoint(part)
        group.is_known &= part.get("additionalProperties", True) is True
        for keyword, inner in _for_same_value(part):
            groups[id(inner)] = group
            if keyword in _CONDITIONS or id(part) in conditions:
                conditions.add(id(inner))
    for pointer, part in parts:
        group = groups[id(part)]
        if not group.is_known or id(part) in conditions:
            continue
        for index, name in enumerate(part.get("required", [])):
            if name not in group.names:
                message = f"{name!r} is required but not among the properties: it comes after them,"
                at = f"{pointer}/required/{index}"
                yield Finding(at, "warning", "required-unlisted", f"{message} with any value")


def _listed(schema: dict[str, Any]) -> Iterable[str]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else ()


def _for_same_value(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas within a schema that are about the same value, with their keywords."""
    for keyword in _LISTS:
        options = schema.get(keyword)
        for inner in options if isinstance(options, list) else ():
            if isinstance(inner, dict):
                yield keyword, inner
    for keyword in (*_CONDITIONS, *_FOLLOWING):
        if isinstance(schema.get(keyword), dict):
            yield keyword, schema[keyword]
    dependent = schema.get("dependentSchemas")
    for inner in dependent.values() if isinstance(dependent, dict) else ():
        if isinstance(inner, dict):
            yield "dependentSchemas", inner
