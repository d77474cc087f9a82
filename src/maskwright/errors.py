"""The tree of errors that this package raises.

Every error that a caller can cause is an `InputError`. It names the place (`param`, `pointer`, or
line and column in the message), and a remedy if there is one. The server answers an `InputError`
with a 400 whose body contains `message`, `param` and `code`.
"""

from __future__ import annotations

from collections.abc import Callable


class MaskwrightError(Exception):
    """The base class of all errors that this package raises. They can be pickled, and so
    sent from one process to another, whatever arguments their classes take."""

    def __reduce__(self) -> tuple[Callable[..., MaskwrightError], tuple[object, ...]]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[MaskwrightError], args: tuple[object, ...], attributes: dict[str, object]
) -> MaskwrightError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class InputError(MaskwrightError):
    """An input of the caller is invalid or not supported.

    `param`: the dotted path of a request field (`response_format.json_schema.schema`), or the name
    of an argument. `code`: a stable word for programs.
    """

    default_code = "invalid_value"

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code or self.default_code


class SchemaError(InputError):
    """A JSON Schema is malformed at `pointer` (RFC 6901, `""` is the root)."""

    default_code = "invalid_json_schema"

    def __init__(self, message: str, *, pointer: str, param: str | None = None) -> None:
        super().__init__(f"{message} (at {pointer or 'the root'})", param=param)
        self.reason = message
        self.pointer = pointer


class UnsupportedSchemaError(SchemaError):
    """A schema contains a keyword or construct that is valid, but can't be enforced."""

    default_code = "unsupported_json_schema"


class UnsatisfiableSchemaError(SchemaError):
    """No JSON value matches the schema."""

    default_code = "unsatisfiable_json_schema"


class StructuralTagError(InputError):
    """A structural tag is malformed, or can't be enforced, at `pointer` (RFC 6901)."""

    default_code = "invalid_structural_tag"

    def __init__(self, message: str, *, pointer: str, param: str | None = None) -> None:
        super().__init__(f"{message} (at {pointer or 'the root'})", param=param)
        self.reason = message
        self.pointer = pointer


class UnsatisfiableGrammarError(InputError):
    """No text matches the grammar."""

    default_code = "unsatisfiable_grammar"


class UnsupportedGrammarError(InputError):
    """A grammar is valid, but can't be enforced or converted."""

    default_code = "unsupported_grammar"


class RegexError(InputError):
    """A pattern can't be parsed or isn't regular; the message shows a caret under `position`.

    `unsupported`: it is a valid pattern, but can't be enforced.
    """

    default_code = "invalid_regex"

    def __init__(
        self,
        reason: str,
        *,
        pattern: str,
        position: int,
        param: str | None = None,
        unsupported: bool = False,
    ) -> None:
        start = pattern.rfind("\n", 0, position) + 1
        line = pattern[start:].partition("\n")[0]
        caret = " " * (position - start) + "^"
        super().__init__(f"{reason} at position {position}\n  {line}\n  {caret}", param=param)
        self.reason = reason
        self.pattern = pattern
        self.position = position
        self.unsupported = unsupported


class GrammarError(InputError):
    """A grammar can't be read or enforced, because of what stands at `line` and `column` (from 1).

    The message shows the line with a caret.
    """

    default_code = "invalid_grammar"

    def __init__(self, reason: str, *, text: str, position: int, param: str | None = None) -> None:
        start = text.rfind("\n", 0, position) + 1
        shown = text[start:].partition("\n")[0].rstrip("\r")
        self.line = text.count("\n", 0, position) + 1
        self.column = position - start + 1
        caret = "".join("\t" if c == "\t" else " " for c in shown[: position - start]) + "^"
        place = f"line {self.line}, column {self.column}"
        super().__init__(f"{reason} ({place})\n  {shown}\n  {caret}", param=param)
        self.reason = reason


class LimitError(InputError):
    """Counted work or a size exceeded a limit. `limit`: its name in `maskwright.limits.Limits`."""

    default_code = "limit_exceeded"

    def __init__(
        self, message: str, *, limit: str, pointer: str | None = None, param: str | None = None
    ) -> None:
        """`pointer`: the JSON Pointer of the place in a schema, if it is known."""
        place = "" if pointer is None else f" (at {pointer or 'the root'})"
        super().__init__(f"{message}{place} (limit {limit!r})", param=param)
        self.reason = message
        self.limit = limit
        self.pointer = pointer


class SliceExceeded(MaskwrightError):
    """A question was abandoned because its slice of time was over (`limits.slice_of`). It can be
    asked again, here or in another process."""


class UnspellableError(InputError):
    """The tokens of the vocabulary can't spell any text of a grammar, or any continuation of a
    text, because a byte or character is missing."""

    default_code = "unspellable"


class BudgetError(InputError):
    """The token limit is smaller than the shortest output. `needed`: a limit that suffices."""

    default_code = "max_tokens_too_small"

    def __init__(self, message: str, *, needed: int, param: str | None = None) -> None:
        super().__init__(message, param=param)
        self.needed = needed


class AddressError(MaskwrightError):
    """The server can't listen at an address, or no server answers there."""


class OverloadedError(MaskwrightError):
    """The queue is full, or the request would miss an objective. `retry_after`: seconds after which
    to try again."""

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class GenerationError(MaskwrightError):
    """A running request can't be continued. Other requests are not affected."""

    code = "generation_failed"


class EmptySupportError(GenerationError):
    """The mask and the request's own bans together forbid every token."""

    code = "empty_support"


class EngineStoppedError(GenerationError):
    """The engine was stopped, or failed, before the generation ended."""

    code = "engine_stopped"
