"""Property order "schema", naively: whether an object's names come in the order of its schema.

A text is in order if, for some choice among the options of each union that the value satisfies, the
declared names of each object come in their order, and the others after the last declared one. The
document itself is read, once for each value; nothing of the machine is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

Valid = Callable[[Any, Any], bool]
"""Whether a value satisfies a schema."""

_UNIONS = ("allOf", "anyOf", "oneOf")
# Whether such a schema counts for a value or not, and so whether its properties are declared there,
# doesn't show from the value alone.
_UNSURE = ("not", "if", "contains", "dependentSchemas", "dependencies", "enum", "const")
_UNSURE_MEMBERS = ("unevaluatedProperties", "unevaluatedItems")


def is_plain(schema: Any) -> bool:
    """Whether the order can be judged: no names are declared where that depends on more."""
    if isinstance(schema, list):
        return all(map(is_plain, schema))
    if not isinstance(schema, dict):
        return True
    for keyword in (*_UNSURE, *_UNSURE_MEMBERS):
        if keyword in schema and ("properties" in repr(schema[keyword]) or "$ref" in repr(schema)):
            return False
    return not any(keyword in schema for keyword in _UNSURE_MEMBERS) and all(
        map(is_plain, schema.values())
    )


class Order:
    """The order of one document's names; `valid` judges values under its subschemas."""

    def __init__(self, root: Any, valid: Valid) -> None:
        self._root = root
        self._valid = valid

    def admits(self, value: Any) -> bool:
        return self._admits([self._root], value)

    def _admits(self, schemas: list[Any], value: Any) -> bool:
        if not isinstance(value, dict | list):
            return True
        ways = product(*(self._branches(schema, value, ()) for schema in schemas))
        return any(self._follows(schemas, [s for part in way for s in part], value) for way in ways)

    def _branches(self, schema: Any, value: Any, path: tuple[int, ...]) -> Iterator[list[Any]]:
        """The schemas without unions that a schema may stand for, one list for each choice."""
        if not isinstance(schema, dict) or id(schema) in path:
            yield []
            return
        path = (*path, id(schema))
        parts: list[list[list[Any]]] = []
        for keyword, setting in schema.items():
            if keyword == "$ref":
                parts.append([*self._branches(self._resolved(setting), value, path)])
            elif keyword == "allOf":
                parts += [[*self._branches(each, value, path)] for each in setting]
            elif keyword in _UNIONS:
                options = [each for each in setting if self._valid(each, value)]
                parts.append([b for each in options for b in self._branches(each, value, path)])
        for way in product(*parts):
            yield [schema, *(each for part in way for each in part)]

    def _follows(self, schemas: list[Any], branch: list[Any], value: Any) -> bool:
        if isinstance(value, list):
            return all(
                self._admits(list(_of_item(branch, at)), item) for at, item in enumerate(value)
            )
        named = [each["properties"] for each in branch if each.get("properties")]
        declared = [*dict.fromkeys(name for each in named for name in each)]
        if len(named) > 1:
            places = [*dict.fromkeys(n for each in schemas for n in self._names(each, ()))]
            declared.sort(key=places.index)
        ranks = [declared.index(n) if n in declared else len(declared) for n in value]
        return ranks == sorted(ranks) and all(
            self._admits(list(_of_member(branch, name)), inner) for name, inner in value.items()
        )

    def _names(self, schema: Any, path: tuple[int, ...]) -> Iterator[str]:
        """The names that a document declares for one value, in the order of its keywords."""
        if not isinstance(schema, dict) or id(schema) in path:
            return
        path = (*path, id(schema))
        for keyword, setting in schema.items():
            if keyword == "properties":
                yield from setting
            elif keyword == "$ref":
                yield from self._names(self._resolved(setting), path)
            elif keyword in _UNIONS:
                for each in setting:
                    yield from self._names(each, path)

    def _resolved(self, reference: str) -> Any:
        found = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            found = found[part]
        return found


def _of_item(branch: list[Any], at: int) -> Iterator[Any]:
    for schema in branch:
        prefix = schema.get("prefixItems", [])
        if at < len(prefix):
            yield prefix[at]
        elif "items" in schema:
            yield schema["items"]


def _of_member(branch: list[Any], name: str) -> Iterator[Any]:
    for schema in branch:
        named = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        matching = [each for pattern, each in patterns.items() if re.search(pattern, name)]
        yield from matching
        if name in named:
            yield named[name]
        elif not matching and "additionalProperties" in schema:
            yield schema["additionalProperties"]
