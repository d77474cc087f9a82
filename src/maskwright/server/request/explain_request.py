"""The body of POST /v1/explain: a shape and a text so far, or the id of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from maskwright.errors import InputError
from maskwright.grammar.schema.options import AdditionalProperties, Numbers
from maskwright.server.json import Json
from maskwright.server.request.model import Between, ClosedModel, IdArray, needs
from maskwright.server.request.shape import FreeText, Shape
from maskwright.server.request.shape_fields import FormattedShapeFields
from maskwright.server.request.tool_use import FunctionFields, ToolUse

SHOWN: Final = 24
"""Tokens that are listed by default."""
MOST_SHOWN: Final = 1000
MOST_BYTES: Final = 1 << 20
"""Bytes of a text that are explained, or its tokens. Finding reasons reads it again and again."""
MOST_CHOICES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TextToExplain:
    """A text of a shape, or the `tokens` of one. `shown`: how many of the tokens that may follow
    are listed. `why`: whether it is searched why a text isn't allowed. `candidates`: tokens that
    the answer lists if they may follow."""

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


class ExplainAnswerRequest(ClosedModel):
    """The id of an answer."""

    id: str
    choice: Annotated[int, Between(0, MOST_CHOICES)] = 0
    model: Any = None


class ExplainSettings(ClosedModel):
    """How the shape is read."""

    additional_properties: AdditionalProperties | None = None
    numbers: Numbers | None = None


class ExplainTextRequest(FormattedShapeFields, FunctionFields, ClosedModel):
    """A shape and a text so far, or its tokens."""

    model_config = ConfigDict(json_schema_extra=needs("text", "tokens", exactly_one=True))

    text: str | None = Field(default=None, json_schema_extra={"maxLength": MOST_BYTES})
    tokens: Annotated[tuple[int, ...], IdArray()] | None = None
    shown: Annotated[int, Between(0, MOST_SHOWN)] = Field(
        default=SHOWN, description="How many tokens are listed."
    )
    why: bool = Field(default=True, description="Whether reasons are searched.")
    candidates: Annotated[tuple[int, ...], IdArray()] = ()
    model: Any = None
    maskwright: ExplainSettings = ExplainSettings()

    def text_to_explain(self) -> TextToExplain:
        """Return what is asked for. Raises InputError."""
        shape, use = self.shape(), self.tool_use()
        if isinstance(shape, FreeText) and (use is None or not use.constrains):
            raise InputError(
                "there is nothing to explain: send a shape, as in a request for an answer, tools "
                "that may be called, or the id of an answer",
                param="response_format",
                code="missing_required_parameter",
            )
        if self.tokens is not None and self.text is not None:
            raise InputError("text and tokens exclude each other", param="tokens")
        if self.tokens is None and self.text is None:
            raise InputError(
                "text or tokens are required: what has been written so far, empty at the beginning",
                param="text",
                code="missing_required_parameter",
            )
        text = self.text or ""
        _check_length(text, self.tokens)
        own = self.maskwright
        return TextToExplain(
            shape,
            use,
            text,
            self.tokens,
            self.shown,
            own.additional_properties,
            own.numbers,
            self.why,
            self.candidates,
        )


def parse_explain_request(tree: Json) -> TextToExplain | AnswerToExplain:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    if tree.get("id") is not None:
        asked = ExplainAnswerRequest.read(tree)
        return AnswerToExplain(asked.id, asked.choice)
    return ExplainTextRequest.read(tree).text_to_explain()


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
