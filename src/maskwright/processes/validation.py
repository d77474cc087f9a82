"""Checks whole answers again, by means that know nothing of masks.

JSON is validated by the `jsonschema` package against the client's schema as it was sent; any other
text is read once more by its grammar. Both may take as long as a client's shape makes them, so they
are inquiries (see `messages.Inquiry`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from importlib.metadata import version
from itertools import islice
from typing import Any, Final, NoReturn, TypeAlias

from jsonschema import Draft4Validator, Draft202012Validator, ValidationError
from jsonschema.validators import extend, validator_for
from jsonschema_specifications import REGISTRY

from maskwright.processes.messages import Build
from maskwright.vocab import Vocabulary

Data: TypeAlias = dict[str, Any]

MOST_ERRORS: Final = 10
"""Errors of one answer that are told."""
MOST_CHARACTERS: Final = 200
"""Characters of a message of an error."""
_DIGITS: Final = 400
"""Digits with which `multipleOf` is computed."""
_MOST_DIGITS: Final = 4_000
"""Digits of an integer up to which Python reads it as one."""


@dataclass(frozen=True, slots=True)
class JsonCheck:
    """`text` has to be an instance of a schema, given as JSON text. `subject`: what is checked."""

    subject: str
    text: str
    schema: str


@dataclass(frozen=True, slots=True)
class ReadingCheck:
    """`text` has to be a whole text of a grammar; or `tokens`, where the text doesn't show the
    control tokens that belong to it."""

    subject: str
    text: str
    build: Build
    tokens: Sequence[int] | None = None


Check: TypeAlias = JsonCheck | ReadingCheck


def checked(checks: Sequence[Check], vocabulary: Vocabulary) -> list[Data]:
    """The verdict of each check: `subject`, `by`, `valid`, and `errors` for what is not valid.

    `valid` is null, and `reason` says why, where it can't be decided: a schema or pattern that the
    package doesn't understand.
    """
    return [
        _validated(check) if isinstance(check, JsonCheck) else _read(check, vocabulary)
        for check in checks
    ]


def _validated(check: JsonCheck) -> Data:
    schema = _exact_json(check.schema)
    kind: Any = validator_for(schema, default=Draft202012Validator)
    found: Data = {
        "subject": check.subject,
        "by": f"jsonschema {version('jsonschema')}, {kind.__name__}",
    }
    try:
        with localcontext(Context(prec=_DIGITS)):
            instance = _exact_json(check.text)
            # The registry has the meta-schemas alone: nothing is fetched.
            validator = _with_exact_integers(kind)(schema, registry=REGISTRY)
            errors = [*islice(validator.iter_errors(instance), MOST_ERRORS)]
    except _NotJsonError as error:
        told = {"instance": "", "schema": "", "keyword": None, "message": f"not JSON: {error}"}
        return {**found, "valid": False, "errors": [told]}
    except Exception as error:  # whatever the package raises over a schema that it can't evaluate
        reason = _shortened(f"jsonschema can't evaluate this: {error}")
        return {**found, "valid": None, "errors": [], "reason": reason}
    return {**found, "valid": not errors, "errors": [_told(error) for error in errors]}


class _NotJsonError(Exception):
    """A text is not JSON."""


class _Exact(Decimal):
    """A number as it is written, shown as in JSON."""

    def __repr__(self) -> str:
        return str(self)


def _exact_json(text: str) -> Any:
    """The value of a JSON text. Numbers are exact, because the package computes `multipleOf` of
    binary fractions with rounding, and would find faults that aren't there."""
    try:
        return json.loads(
            text, parse_float=_Exact, parse_int=_integer, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise _NotJsonError(str(error)) from None


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MOST_DIGITS else _Exact(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise _NotJsonError(f"{name} is not a number of JSON")


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


def _told(error: ValidationError) -> Data:
    return {
        "instance": _pointer(error.absolute_path),
        "schema": _pointer(error.absolute_schema_path),
        "keyword": error.validator,
        "message": _shortened(error.message),
    }


def _pointer(steps: Iterable[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _read(check: ReadingCheck, vocabulary: Vocabulary) -> Data:
    found: Data = {"subject": check.subject, "by": "a second reading by the grammar"}
    matcher = check.build(vocabulary).matcher()
    if check.tokens is None:
        text = check.text.encode()
        offset = matcher.accept_bytes(text)
        whole = offset == len(text)
    else:
        ends = [token for token in check.tokens if token not in vocabulary.eos]
        offset = next((at for at, token in enumerate(ends) if not matcher.accept(token)), len(ends))
        whole = offset == len(ends)
    if whole and matcher.accepting:
        return {**found, "valid": True, "errors": []}
    unit = "byte" if check.tokens is None else "token"
    fault = "the text ends too early" if whole else f"{unit} {offset} is not allowed"
    return {**found, "valid": False, "errors": [{"offset": offset, "message": fault}]}
