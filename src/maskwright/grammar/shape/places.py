"""Where in a document stands what is asserted of a value."""

from __future__ import annotations

from collections.abc import Callable

from maskwright.grammar.schema.tree import Assertion, Schema, about_the_value
from maskwright.grammar.shape.shape import Conjunction, in_order


def place_of(conjunction: Conjunction, test: Callable[[Assertion], bool]) -> str | None:
    """The JSON Pointer of the first schema with an assertion about the value that passes a test,
    among the conjunction and what it consists of; None if there is none."""
    seen: set[Schema] = set()
    waiting = in_order(conjunction)
    for schema in waiting:
        if schema in seen:
            continue
        seen.add(schema)
        if any(map(test, schema.assertions)):
            return schema.pointer
        for assertion in schema.assertions:
            waiting += about_the_value(assertion)
    return None
