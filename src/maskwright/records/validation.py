"""Checks answers under a JSON Schema with the package `jsonschema`.

It shares no code with the compiler that makes masks, so that it finds what that has overlooked.
Formats are annotations to it, as the specification has them by default.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final, NoReturn

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable

from maskwright.errors import InputError

MOST_DIGITS: Final = 400
"""The largest exponent of ten with which a number is compared as an integer."""


class AnswerSchema:
    """A JSON Schema under which answers are checked."""

    def __init__(self, schema: dict[str, object] | bool) -> None:
        """Raises InputError if it is no JSON Schema. References to other documents are not
        fetched."""
        exact: Any = json.loads(json.dumps(schema), parse_float=_exact)
        kind = validator_for(exact, default=Draft202012Validator)
        try:
            kind.check_schema(exact)
        except SchemaError as error:
            place = "".join(f"/{part}" for part in error.absolute_path)
            raise InputError(
                f"the schema is not valid: {error.message[:500]} (at {place or 'the root'})",
                param="schema",
            ) from None
        self._validator = kind(exact, registry=REGISTRY)

    def problem(self, text: str) -> str | None:
        """Say why a text is no instance of the schema; None if it is one."""
        try:
            value = json.loads(text, parse_float=_exact, parse_constant=_refuse_constant)
            error = best_match(self._validator.iter_errors(value))
        except (ValueError, RecursionError) as failure:
            return f"not JSON: {failure}"
        except Unresolvable as failure:
            return f"a reference of the schema leads nowhere: {failure}"
        if error is None:
            return None
        place = "".join(f"/{part}" for part in error.absolute_path)
        return f"{error.message[:500]} (at {place or 'the root'}, by {error.validator})"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _exact(text: str) -> int | Decimal:
    """The number of a text without rounding, which `multipleOf` needs; an integer if it is one,
    since `jsonschema` takes no decimal for an integer."""
    value = Decimal(text)
    if abs(value.adjusted()) < MOST_DIGITS and value == value.to_integral_value():
        return int(value)
    return value
