"""The one error tree.

Every error a caller can cause derives from `InputError` and names the place (`param`, `pointer`,
or line and column inside the message) and the way out. The server turns an `InputError` into a
400 whose body carries `message`, `param` and `code`; anything else is a defect of ours.
"""

from __future__ import annotations


class MaskwrightError(Exception):
    """Root of every error raised by this package."""


class InputError(MaskwrightError):
    """Something the caller sent can't be obeyed.

    `param` is the dotted request field (`response_format.json_schema.schema`) or argument name,
    `code` a stable machine-readable word. `place` is set by subclasses whose fault lies inside a
    document rather than in a field.
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
    """A keyword or construct of the schema that is valid, but not enforced by this version."""

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
    """A grammar that is valid, but that this version can't hold to."""

    default_code = "unsupported_grammar"


class RegexError(InputError):
    """A pattern can't be parsed or isn't regular; the message shows a caret under `position`.

    `unsupported`: it is a pattern, but one that can't be enforced.
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
    """A grammar can't be read, or says what can't be enforced, at `line` and `column` (from 1).

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
    """Counted work or size passed a limit; `limit` is its name in `maskwright.limits.Limits`."""

    default_code = "limit_exceeded"

    def __init__(
        self, message: str, *, limit: str, pointer: str | None = None, param: str | None = None
    ) -> None:
        """`pointer`: the JSON Pointer of the place in a schema, where it is known."""
        place = "" if pointer is None else f" (at {pointer or 'the root'})"
        super().__init__(f"{message}{place} (limit {limit!r})", param=param)
        self.reason = message
        self.limit = limit
        self.pointer = pointer


class SliceExceeded(MaskwrightError):
    """A question was abandoned because its slice of time was over (`limits.slice_of`). It can be
    asked again, here or in another process."""


class UnspellableError(InputError):
    """The tokens of the vocabulary can't spell any text of a grammar, or any way on from a place in
    one: some byte or character is missing."""

    default_code = "unspellable"


class BudgetError(InputError):
    """The token limit is smaller than the shortest output; `needed` is what would do."""

    default_code = "max_tokens_too_small"

    def __init__(self, message: str, *, needed: int, param: str | None = None) -> None:
        super().__init__(message, param=param)
        self.needed = needed


class AddressError(MaskwrightError):
    """The server can't listen where it was told to, or nobody answers there."""


class OverloadedError(MaskwrightError):
    """The bounded queue is full, or the request would be served too late; `retry_after` in
    seconds."""

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class GenerationError(MaskwrightError):
    """A request that was accepted can't be carried on; others are not concerned."""

    code = "generation_failed"


class EmptySupportError(GenerationError):
    """Masks and bans together forbid every token."""

    code = "empty_support"


class EngineStoppedError(GenerationError):
    """The engine ended, by request or by a defect, before the generation did."""

    code = "engine_stopped"
