"""Whether a JSON text is an instance of a schema, as the package `jsonschema` judges it.

It shares no code with the compilers that make masks, so that it finds what they overlook. Formats
are annotations to it, as the specification has them by default. Keywords that are null are absent,
as everywhere. Nothing is fetched: references to other documents than the meta-schemas can't be
decided.
"""

from __future__ import annotations

import json
from decimal import Context, Decimal, localcontext
from importlib.metadata import version
from itertools import islice
from typing import Any, Final, NoReturn

from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator, ValidationError
from jsonschema.validators import extend, validator_for
from jsonschema_specifications import REGISTRY

from maskwright.grammar.schema.document import plain
from maskwright.json_faults import json_reason

__all__ = ["InstanceCheck", "NotJsonError", "UndecidedError"]

_DIGITS: Final = 400
"""Digits with which `multipleOf` is computed."""
_MOST_DIGITS: Final = 4_000
"""Digits of an integer up to which Python reads it as one."""


class NotJsonError(Exception):
    """A text is not JSON."""


class UndecidedError(Exception):
    """The package can't evaluate a schema, or not for this text."""


class InstanceCheck:
    """A schema, given as JSON text, under which texts are checked. `by`: what checks them."""

    def __init__(self, schema: str) -> None:
        """Raises NotJsonError."""
        tree: Any = plain(exact_json(schema))[0]
        kind: Any = validator_for(tree, default=Draft202012Validator)
        self.by = f"jsonschema {version('jsonschema')}, {kind.__name__}"
        self._kind = _with_exact_integers(_with_dependencies(kind))
        self._tree = tree

    def errors(self, text: str, most: int) -> list[ValidationError]:
        """Return up to `most` reasons why a text is no instance. Raises NotJsonError and
        UndecidedError."""
        try:
            with localcontext(Context(prec=_DIGITS)):
                instance = exact_json(text)
                validator = self._kind(self._tree, registry=REGISTRY)
                return [*islice(validator.iter_errors(instance), most)]
        except NotJsonError:
            raise
        except Exception as error:  # whatever it raises over a schema that it can't evaluate
            raise UndecidedError(f"jsonschema can't evaluate this: {error}") from None


class _Exact(Decimal):
    """A number as it is written, shown as in JSON."""

    def __repr__(self) -> str:
        return str(self)


def exact_json(text: str) -> Any:
    """The value of a JSON text. Numbers are exact, because the package computes `multipleOf` of
    binary fractions with rounding, and would find faults that aren't there. Raises NotJsonError."""
    try:
        return json.loads(
            text, parse_float=_Exact, parse_int=_integer, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise NotJsonError(json_reason(error)) from None


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MOST_DIGITS else _Exact(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise NotJsonError(f"{name} is not a number of JSON")


def _with_dependencies(kind: Any) -> Any:
    """A validator that obeys `dependencies` in drafts that have it no more, as they allow."""
    if "dependencies" in kind.VALIDATORS:
        return kind
    validators: Any = {"dependencies": Draft7Validator.VALIDATORS["dependencies"]}
    return extend(kind, validators=validators)


def _with_exact_integers(kind: Any) -> Any:
    """A validator that takes exact numbers as it would take floats: since draft 6, `1.0` is an
    integer."""
    if kind is Draft4Validator:
        return kind

    def is_integer(checker: Any, value: object) -> bool:
        if isinstance(value, Decimal):
            return value.is_finite() and value == value.to_integral_value()
        return integer(value, "integer")

    integer = kind.TYPE_CHECKER.is_type
    return extend(kind, type_checker=kind.TYPE_CHECKER.redefine("integer", is_integer))
