"""References in a circle: a schema that refers to itself about one and the same value says nothing,
since its value would have to be judged to judge it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from maskwright.grammar.schema.tree import AllOf, AnyOf, If, Not, OneOf, Schema, about_the_value
from maskwright.limits import CHEAP, spend

_COMBINING: Final = frozenset((AllOf, AnyOf, OneOf, Not, If))


def circular(schemas: Iterable[Schema]) -> dict[Schema, Schema]:
    """Return the schemas that can't be judged, each with one in a circle that it leads to about its
    own value: one that refers to itself other than through a property or an item. `schemas`: with
    all that they lead to."""
    judged: set[Schema] = set()
    found: dict[Schema, Schema] = {}
    for start in schemas:
        if start in judged or _COMBINING.isdisjoint(map(type, start.assertions)):
            continue
        path = [(start, _about_the_same(start))]
        within = {start}
        while path:
            schema, rest = path[-1]
            below = next(rest, None)
            if below is None:
                spend(CHEAP)
                path.pop()
                within.discard(schema)
                judged.add(schema)
                if path and schema in found:
                    found[path[-1][0]] = found[schema]
            elif below in within:
                found[schema] = below
            elif below in found:
                found[schema] = found[below]
            elif below not in judged:
                within.add(below)
                path.append((below, _about_the_same(below)))
    return found


def _about_the_same(schema: Schema) -> Iterator[Schema]:
    """The schemas that a schema applies to its own value."""
    for assertion in schema.assertions:
        yield from about_the_value(assertion)
