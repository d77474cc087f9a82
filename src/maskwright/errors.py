"""The tree of errors that this package raises.

Every error that a caller can cause is an `InputError`. It names the place (`param`, `pointer`, or
line and column in the message), and a remedy if there is one. The server answers an `InputError`
with a 400 whose body contains `message`, `param` and `code`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

BYTE_ORDER_MARK: Final = "\ufeff"
"""What editors may write before a text. It belongs to no grammar, and takes no column."""


class MaskwrightError(Exception):
    """The base class of all errors that this package raises. They can be pickled, and so
    sent from one process to another, whatever arguments their classes take."""

    def __reduce__(self) -> tuple[Any, ...]:
        kind = type(self)
        return kind.__new__, (kind, *self.args), self.__dict__


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


def whole_number(value: Any, name: str) -> int:
    """The integer that an argument gives, which may be one of NumPy's or torch's, as an int.

    Raises `InputError` for anything else, such as text, a float or a list.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise InputError(
            f"{name} has to be a whole number, not {named(value)}", param=name
        ) from None


def named(value: Any) -> str:
    """A wrong argument as a message names it: what is short itself, of anything else its kind."""
    if value is None or isinstance(value, str | bytes | int | float):
        text = repr(value)
        return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def first_line(error: BaseException) -> str:
    """What an error of another library says at first; advice on how it is used comes after."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def amount(count: int, noun: str) -> str:
    """A number of things, as a message says it: "1 token", "2,000 tokens"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


_MOST_SHOWN: Final = 60
"""Characters of a wrong argument that a message shows."""


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
    """No text matches the grammar, because of the rule `rule`, if that is known."""

    default_code = "unsatisfiable_grammar"

    def __init__(self, message: str, *, rule: str | None = None, param: str | None = None) -> None:
        super().__init__(message, param=param)
        self.rule = rule


class UnsupportedGrammarError(InputError):
    """A grammar is valid, but can't be enforced or converted."""

    default_code = "unsupported_grammar"


class RegexError(InputError):
    """A pattern can't be parsed or isn't regular; the message shows a caret under `position`.

    `unsupported`: it is a valid pattern, but can't be enforced. `pointer`: where it stands in a
    structural tag, which the reason then says.
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
        pointer: str | None = None,
    ) -> None:
        if pointer is not None:
            reason = f"in the pattern at {pointer}: {reason}"
        start = pattern.rfind("\n", 0, position) + 1
        line = pattern[start:].partition("\n")[0]
        caret = " " * (position - start) + "^"
        super().__init__(f"{reason} at position {position}\n  {line}\n  {caret}", param=param)
        self.reason = reason
        self.pattern = pattern
        self.position = position
        self.unsupported = unsupported
        self.pointer = pointer


class GrammarError(InputError):
    """A grammar can't be read or enforced, because of what stands at `line` and `column` (from 1).

    The message shows the line with a caret.
    """

    default_code = "invalid_grammar"

    def __init__(self, reason: str, *, text: str, position: int, param: str | None = None) -> None:
        self.line, self.column, shown = _shown_line(text, position)
        super().__init__(f"{reason} {shown}", param=param)
        self.reason = reason


def at_line(reason: str, text: str, position: int) -> str:
    """A message that shows the line of a grammar at an index, with a caret, as a GrammarError's."""
    return f"{reason} {_shown_line(text, position)[2]}"


def _shown_line(text: str, position: int) -> tuple[int, int, str]:
    """The line and column (from 1) of an index, and both with the line and a caret under it."""
    if text.startswith(BYTE_ORDER_MARK):
        text, position = text[1:], max(0, position - 1)
    start = text.rfind("\n", 0, position) + 1
    shown = text[start:].partition("\n")[0].rstrip("\r")
    line, column = text.count("\n", 0, position) + 1, position - start + 1
    caret = "".join("\t" if c == "\t" else " " for c in shown[: position - start]) + "^"
    return line, column, f"(line {line}, column {column})\n  {shown}\n  {caret}"


class Construct(NamedTuple):
    """The part of a shape by which a limit is exceeded."""

    name: str
    """As a message says it: "the schema at /properties/a", "the rule 'expression'"."""
    pointer: str | None = None
    """Of a schema: its JSON Pointer."""

    @classmethod
    def schema(cls, pointer: str) -> Construct:
        """The schema or keyword at a JSON Pointer."""
        return cls(f"the schema at {_shortened(pointer) or 'the root'}", pointer)

    @classmethod
    def rules(cls, names: Iterable[str]) -> Construct:
        """Rules of a grammar; the first three are named."""
        first = [repr(_shortened(name)) for name in dict.fromkeys(names)]
        if len(first) == 1:
            return cls(f"the rule {first[0]}")
        return cls(f"the rules {', '.join(first[:3])}{', …' if len(first) > 3 else ''}")

    @classmethod
    def line(cls, text: str, position: int) -> Construct:
        """What stands at an index of the text of a grammar."""
        line = text.count("\n", 0, position) + 1
        return cls(f"line {line}, column {position - text.rfind(chr(10), 0, position)}")

    @classmethod
    def pattern(cls, text: str) -> Construct:
        """A regular expression."""
        return cls(f"the pattern {_shortened(text)!r}")


WHOLE_GRAMMAR: Final = Construct("the grammar")


def _shortened(text: str) -> str:
    half = MOST_NAMED // 2
    return text if len(text) <= MOST_NAMED else f"{text[:half]}…{text[-half:]}"


MOST_NAMED: Final = 200
"""Characters of a construct that a message shows."""

_LESS_OVERLAP: Final = "use fewer alternatives, patterns or repeats that overlap"

WAYS_OUT: Final[Mapping[str, str]] = {
    "schema_depth": "nest it less deep",
    "schema_nodes": "shorten the schema, or let equal parts refer to one definition",
    "pattern_length": "shorten the pattern, or split it into an 'allOf' or several rules",
    "pattern_terms": "shorten the pattern, or split it into an 'allOf' or several rules",
    "lookbehind_states": "use fewer or shorter lookbehinds",
    "grammar_length": "shorten the grammar",
    "alternatives": "use fewer anyOf, oneOf or if about one value",
    "grammar_rules": "use fewer rules",
    "grammar_nodes": "use fewer or shorter rules",
    "items": "let fewer rules begin alike, and none be ambiguous",
    "leaf_states": "use fewer or shorter patterns, counts and lists of words",
    "contexts": "use less nesting, fewer counts and fewer items that must differ",
    "witness_search": "use fewer patterns and counts that must hold together",
    "divisor": "use a rounder number, or leave multipleOf out",
    "work": _LESS_OVERLAP,
    "seconds": _LESS_OVERLAP,
    "bytes": _LESS_OVERLAP,
}
"""By limit: what a caller can change so that it is kept."""


class LimitError(InputError):
    """Counted work or a size exceeded a limit.

    `limit`: its name in `maskwright.limits.Limits`. `value`: what it allows, in the limit's unit.
    `construct`: what exceeded it. `way_out`: what to change. The message says all four.
    """

    default_code = "limit_exceeded"

    def __init__(
        self,
        reason: str,
        *,
        limit: str,
        value: float | None = None,
        construct: Construct | None = None,
        way_out: str | None = None,
        param: str | None = None,
    ) -> None:
        """`value` and `construct` may be None where they aren't known yet: `complete` adds them.
        `way_out`: by default the limit's own of `WAYS_OUT`."""
        super().__init__(reason, param=param)
        self.reason = reason
        self.limit = limit
        self.value = value
        self.construct = construct
        self.way_out = way_out or WAYS_OUT.get(limit)
        self._say()

    @property
    def pointer(self) -> str | None:
        """The JSON Pointer of the construct, if that is a part of a schema."""
        return None if self.construct is None else self.construct.pointer

    def complete(self, *, value: float | None = None, construct: Construct | None = None) -> None:
        """Add what isn't known yet. What raises an error mostly knows less of where it stands than
        what has called it."""
        if self.value is None:
            self.value = value
        if self.construct is None:
            self.construct = construct
        self._say()

    def place(self, construct: Construct) -> None:
        """Replace the construct by one that is known better."""
        self.construct = construct
        self._say()

    def within(self, owner: str) -> None:
        """Say to which of several schemas or grammars the construct belongs."""
        self.reason = f"{owner}: {self.reason}"
        self._say()

    def _say(self) -> None:
        place = "" if self.construct is None else f", in {self.construct.name}"
        value = "" if self.value is None else f" of {self.value:,}"
        way_out = "" if self.way_out is None else f": {self.way_out}"
        self.message = f"{self.reason}{place} (limit {self.limit!r}{value}){way_out}"
        self.args = (self.message,)


class TooLongError(LimitError):
    """The counts of a part of a shape show at once that its shortest text is too long to be written
    out. It is no reason to refuse a text that does without this part."""


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
