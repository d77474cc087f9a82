"""Checks whole answers again, by means that know nothing of masks.

JSON is validated by the `jsonschema` package against the client's schema as it was sent; any other
text is read once more by its grammar. Both may take as long as a client's shape makes them, so they
are inquiries (see `messages.Inquiry`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from jsonschema import ValidationError

from maskwright.immutable import Immutable
from maskwright.instances import InstanceCheck, NotJsonError, UndecidedError
from maskwright.processes.messages import Build
from maskwright.vocab import Vocabulary
from maskwright.workbench.pointer import pointer_of

Data: TypeAlias = dict[str, Any]

MOST_ERRORS: Final = 10
"""Errors of one answer that are reported."""
MOST_CHARACTERS: Final = 200
"""Characters of a message of an error."""


class JsonCheck(Immutable):
    """`text` has to be an instance of a schema, given as JSON text. `subject`: what is checked."""

    subject: str
    text: str
    schema: str


class ReadingCheck(Immutable):
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
    schema = InstanceCheck(check.schema)
    found: Data = {"subject": check.subject, "by": schema.by}
    try:
        errors = schema.errors(check.text, MOST_ERRORS)
    except NotJsonError as error:
        fault = {"instance": "", "schema": "", "keyword": None, "message": f"not JSON: {error}"}
        return {**found, "valid": False, "errors": [fault]}
    except UndecidedError as error:
        return {**found, "valid": None, "errors": [], "reason": _shortened(str(error))}
    return {**found, "valid": not errors, "errors": [_entry(error) for error in errors]}


def _entry(error: ValidationError) -> Data:
    return {
        "instance": pointer_of(*error.absolute_path),
        "schema": pointer_of(*error.absolute_schema_path),
        "keyword": error.validator,
        "message": _shortened(error.message),
    }


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
