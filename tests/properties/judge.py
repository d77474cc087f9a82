"""Whether a text is right under a schema: by `json`, `jsonschema`, and the order of properties."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from tests.matching import parsed


class Judge:
    """Independent of the machine: asks the validator that users would ask.

    `order` is "any" or "schema"; for the latter, properties may be declared in one place only.
    Names that the schema doesn't mention may come twice; with `repeats` any name may.
    """

    def __init__(self, schema: Any, order: str = "any", *, repeats: bool = False) -> None:
        jsonschema.Draft202012Validator.check_schema(schema)
        self._validator = jsonschema.Draft202012Validator(in_python(schema))
        self._schema = schema
        self._order = order
        self._unique = frozenset[str]() if repeats else frozenset(_mentioned(schema))
        self._known: dict[bytes, bool] = {}

    def __call__(self, text: bytes) -> bool:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._judged(text)
        return known

    def _judged(self, text: bytes) -> bool:
        try:
            value = parsed(text, repeatable=lambda name: name not in self._unique)
        except ValueError:
            return False
        return self.value(value)

    def value(self, value: Any) -> bool:
        if has_lone_surrogate(value) or not self._validator.is_valid(value):
            return False
        return self._order == "any" or self._ordered(value, self._schema)

    def _ordered(self, value: Any, schema: Any) -> bool:
        """Declared names in the order of `properties`, others behind them, at every depth."""
        if not isinstance(schema, dict) or not isinstance(value, dict):
            return True
        properties = schema.get("properties", {})
        ranks = [list(properties).index(n) if n in properties else len(properties) for n in value]
        return ranks == sorted(ranks) and all(
            self._ordered(inner, properties.get(name)) for name, inner in value.items()
        )


def in_python(schema: Any) -> Any:
    """The schema with patterns in Python's syntax, where `$` also stands before a last line end."""
    match schema:
        case {"pattern": str(pattern), **rest}:
            return {"pattern": pattern.replace("$", "\\Z"), **in_python(rest)}
        case dict():
            return {name: in_python(value) for name, value in schema.items()}
        case list():
            return [in_python(value) for value in schema]
        case _:
            return schema


def has_lone_surrogate(value: Any) -> bool:
    """JSON may spell half a surrogate pair; no Unicode text holds one, and no mask allows it."""
    return any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(value, ensure_ascii=False))


def _mentioned(schema: Any) -> list[str]:
    match schema:
        case dict():
            inner = [name for value in schema.values() for name in _mentioned(value)]
            return [*schema.get("properties", {}), *schema.get("required", []), *inner]
        case list():
            return [name for value in schema for name in _mentioned(value)]
        case _:
            return []
