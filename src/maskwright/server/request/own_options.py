"""The field `maskwright`: options that only this server has."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from maskwright.grammar.schema.options import AdditionalProperties, Numbers, UnusableTools
from maskwright.sampling import Scale
from maskwright.server.continuation import StreamBeginning, parse_continuation
from maskwright.server.json import Json
from maskwright.server.request.model import ClosedModel, Worded

_INTEGER: Final = {"type": "integer"}
_INDEX: Final = {"type": "integer", "minimum": 0}
_CONTINUATION: Final = {
    "type": "object",
    "description": "The beginning of a stream that another server has generated; for routers.",
    "properties": {
        "key": {"type": "string"},
        "created": _INTEGER,
        "seeds": {"type": "array", "items": _INDEX},
        "deltas": {
            "type": "array",
            "description": "The choice, whether the delta ends it, the first token of the choice "
            "that its token limit has changed (null for none), and the tokens of the delta.",
            "items": {
                "type": "array",
                "items": {"type": ["integer", "boolean", "null"]},
                "minItems": 3,
            },
        },
        "events": _INTEGER,
    },
    "required": ["key", "created", "seeds", "deltas", "events"],
}


class _Continuation:
    """The field that only servers write."""

    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(parse_continuation)

    @staticmethod
    def __get_pydantic_json_schema__(core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        return {**_CONTINUATION}


class OwnOptions(ClosedModel):
    """Options that only this server has."""

    logprobs: Scale = Field(
        default="raw",
        description="The log-probabilities are the model's own (`raw`), or conditional on the "
        "tokens that the shape allows. Needs log-probabilities to be asked for.",
    )
    trace: Annotated[bool | Literal["tokens"], Worded('true, false or "tokens"')] = Field(
        default=False,
        description="Return a trace of the generation, also of how each token was chosen.",
    )
    service: str | None = Field(default=None, description="The class of service.")
    timeout: (
        Annotated[float, Field(gt=0, allow_inf_nan=False), Worded("a number of seconds above 0")]
        | None
    ) = Field(
        default=None,
        description="Most seconds that the answer may take; the server's limit at most.",
    )
    additional_properties: AdditionalProperties | None = Field(
        default=None,
        description="Whether objects may have members that their schema doesn't mention; the "
        "server's setting by default.",
    )
    report: bool = Field(
        default=False, description="Say what was enforced, and check the answer again."
    )
    explain: bool = Field(
        default=False, description="Keep for `/v1/explain` how each token was chosen."
    )
    length_if_shortened: bool = Field(
        default=True,
        description="The finish reason of an answer that the token limit has shortened is "
        "`length`, also if its text is whole.",
    )
    continuation: Annotated[StreamBeginning | None, _Continuation] = None
    numbers: Numbers | None = Field(
        default=None, description="How numbers in JSON are written: `plain` without an exponent."
    )
    unusable_tools: UnusableTools = Field(
        default="refuse",
        description="What is done with a tool whose schema can't be used, where other answers are "
        "possible than its call.",
    )

    @property
    def trace_tokens(self) -> bool:
        """Whether it is returned how each token was chosen."""
        return self.trace == "tokens"

    @property
    def scores_tokens(self) -> bool:
        """Whether it is noted how each token was chosen."""
        return self.trace_tokens or self.explain
