"""Whether a text is right under a schema: by `json`, `jsonschema`, and the order of properties."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from jsonschema.validators import validator_for

from tests.matching import parsed
from tests.properties.orders import Order


class Judge:
    """Independent of the machine: asks the validator that users would ask.

    `order` is "any" or "schema"; for the latter, the schema should be plain (see `orders`).
    """

    def __init__(self, schema: Any, order: str = "any") -> None:
        self._validator = validator(schema)
        self._names: Order | None = None
        if order == "schema":
            self._names = Order(schema, self._satisfies)
        self._known: dict[bytes, bool] = {}

    def _satisfies(self, part: Any, value: Any) -> bool:
        """Whether a value satisfies a part of the document, which may refer to the whole."""
        return bool(self._validator.evolve(schema=in_python(part)).is_valid(value))

    def __call__(self, text: bytes) -> bool:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._judged(text)
        return known

    def _judged(self, text: bytes) -> bool:
        try:
            value = parsed(text)
        except ValueError:
            return False
        return self.value(value)

    def value(self, value: Any) -> bool:
        if has_lone_surrogate(value) or not self._validator.is_valid(value):
            return False
        return self._names is None or self._names.admits(value)


def validator(schema: Any) -> Any:
    """The validator of the schema's draft, formats included."""
    of_draft = validator_for(schema, default=jsonschema.Draft202012Validator)
    of_draft.check_schema(schema)
    return of_draft(in_python(schema), format_checker=of_draft.FORMAT_CHECKER)


def in_python(schema: Any) -> Any:
    """The schema with patterns in Python's syntax, where `$` also stands before a last line end."""
    match schema:
        case {"pattern": str(pattern), **rest}:
            return {"pattern": pattern.replace("$", "\\Z"), **in_python(rest)}
        case {"patternProperties": dict(named), **rest}:
            values = {name.replace("$", "\\Z"): in_python(each) for name, each in named.items()}
            return {"patternProperties": values, **in_python(rest)}
        case dict():
            return {name: in_python(value) for name, value in schema.items()}
        case list():
            return [in_python(value) for value in schema]
        case _:
            return schema


def has_lone_surrogate(value: Any) -> bool:
    """JSON may spell half a surrogate pair; no Unicode text holds one, and no mask allows it."""
    return any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(value, ensure_ascii=False))
