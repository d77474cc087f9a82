"""Reads the body of POST /v1/explain: a shape and a text so far, or the id of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast, get_args

from maskwright.errors import InputError
from maskwright.grammar.schema.options import AdditionalProperties, Numbers
from maskwright.server.request.fields import Fields, token_id
from maskwright.server.request.shape import FIELDS, FreeText, Shape, parse_shape
from maskwright.server.request.tool_use import ToolUse, parse_tool_use

SHOWN: Final = 24
"""Tokens that are listed by default."""
MOST_SHOWN: Final = 1000
MOST_BYTES: Final = 1 << 20
"""Bytes of a text that are explained, or its tokens. Finding reasons reads it again and again."""
MOST_CHOICES: Final = 1 << 20
_OWN_FIELDS: Final = ("text", "tokens", "shown", "why", "candidates", "model", "maskwright")
_TOOL_FIELDS: Final = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")


@dataclass(frozen=True, slots=True)
class TextToExplain:
    """A text of a shape, or the `tokens` of one. `shown`: how many of the tokens that may follow
    are listed. `why`: whether it is searched why a text isn't allowed. `candidates`: tokens of
    which it is told whether they may follow."""

    shape: Shape
    tool_use: ToolUse | None
    text: str
    tokens: tuple[int, ...] | None
    shown: int
    additional_properties: AdditionalProperties | None
    numbers: Numbers | None = None
    why: bool = True
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerToExplain:
    """An answer that has ended, by its id and the number of its choice."""

    id: str
    choice: int


def parse_explain_request(tree: dict[str, object]) -> TextToExplain | AnswerToExplain:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    body = Fields(tree)
    id = body.string("id")
    if id is not None:
        body.only("id", "choice", "model")
        return AnswerToExplain(id, body.integer("choice", 0, MOST_CHOICES) or 0)
    body.only(*_OWN_FIELDS, *_TOOL_FIELDS, *sorted(FIELDS))
    shape, use = parse_shape(body), parse_tool_use(body)
    if isinstance(shape, FreeText) and (use is None or not use.constrains):
        raise InputError(
            "there is nothing to explain: send a shape, as in a request for an answer, tools that "
            "may be called, or the id of an answer",
            param="response_format",
            code="missing_required_parameter",
        )
    tokens = _ids(body, "tokens")
    if tokens is not None and body.has("text"):
        raise InputError("text and tokens exclude each other", param="tokens")
    if tokens is None and not body.has("text"):
        raise InputError(
            "text or tokens are required: what has been written so far, empty at the beginning",
            param="text",
            code="missing_required_parameter",
        )
    text = body.string("text") or ""
    _check_length(text, tokens)
    own = body.object("maskwright")
    asked = numbers = None
    if own is not None:
        own.only("additional_properties", "numbers")
        asked = own.choice("additional_properties", get_args(AdditionalProperties))
        numbers = own.choice("numbers", get_args(Numbers))
    shown = body.integer("shown", 0, MOST_SHOWN)
    return TextToExplain(
        shape,
        use,
        text,
        tokens,
        SHOWN if shown is None else shown,
        cast(AdditionalProperties | None, asked),
        cast(Numbers | None, numbers),
        body.boolean("why", default=True),
        _ids(body, "candidates") or (),
    )


def _check_length(text: str, tokens: tuple[int, ...] | None) -> None:
    """Refuse a text that is too long to be explained. Raises InputError."""
    param, unit, length = "text", "bytes", len(text.encode(errors="replace"))
    if tokens is not None:
        param, unit, length = "tokens", "tokens", len(tokens)
    if length > MOST_BYTES:
        raise InputError(
            f"{param} has {length:,} {unit}, and at most {MOST_BYTES:,} are explained; "
            "'maskwright match' on the command line reads texts of any length",
            param=param,
        )


def _ids(body: Fields, name: str) -> tuple[int, ...] | None:
    items = body.items(name)
    return None if items is None else tuple(token_id(item, place) for item, place in items)
