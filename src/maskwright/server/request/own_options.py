"""The field `maskwright`: options that only this server has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from maskwright.errors import InputError
from maskwright.grammar.schema.options import AdditionalProperties, Numbers, UnusableTools
from maskwright.sampling import Scale
from maskwright.server.relay.continuation import StreamBeginning, parse_continuation
from maskwright.server.request.fields import Fields, as_number, invalid

KNOWN = (
    *("logprobs", "trace", "service", "timeout", "additional_properties", "report", "explain"),
    *("length_if_shortened", "continuation", "numbers", "unusable_tools"),
)
"""The fields of the field."""


@dataclass(frozen=True, slots=True)
class OwnOptions:
    """The options in the field `maskwright`.

    - `logprobs`: which log-probabilities are returned, if the client asks for any.
    - `trace`: return a trace with each choice; `trace_tokens`: and how each token was chosen.
    - `service`: the class of service; None for the engine's first one.
    - `timeout`: most seconds that the answer may take.
    - `additional_properties`: whether objects may have members of which their schema says nothing;
      None for the server's setting.
    - `numbers`: how numbers in JSON are written; None for the server's setting.
    - `unusable_tools`: what is done with a tool whose schema can't be used, where other answers are
      possible than its call: refuse the request, or omit the tool.
    - `report`: return with each choice what was enforced, and whether the choice keeps to it.
    - `explain`: keep for a while how each token was chosen.
    - `length_if_shortened`: the finish reason of an answer that the token limit has shortened says
      so, also where its text is whole.
    - `continuation`: the beginning of the answer, which another server has generated.
    """

    logprobs: Scale = "raw"
    trace: bool = False
    trace_tokens: bool = False
    service: str | None = None
    timeout: float | None = None
    additional_properties: AdditionalProperties | None = None
    numbers: Numbers | None = None
    report: bool = False
    explain: bool = False
    length_if_shortened: bool = True
    continuation: StreamBeginning | None = None
    unusable_tools: UnusableTools = "refuse"

    @property
    def scores_tokens(self) -> bool:
        """Whether it is noted how each token was chosen."""
        return self.trace_tokens or self.explain


def parse_own_options(body: Fields, *, scored: bool) -> OwnOptions:
    """Read the field; absent means the defaults. `scored`: the client asks for
    log-probabilities."""
    own = body.object("maskwright")
    if own is None:
        return OwnOptions()
    own.only(*KNOWN)
    scale = own.choice("logprobs", get_args(Scale))
    if scale is not None and not scored:
        raise InputError(
            "maskwright.logprobs says which log-probabilities are told; ask for logprobs too",
            param="maskwright.logprobs",
        )
    trace = own.get("trace")
    if not (trace is None or isinstance(trace, bool) or trace == "tokens"):
        raise invalid(own.at("trace"), 'true, false or "tokens"', trace)
    return OwnOptions(
        cast(Scale, scale or "raw"),
        bool(trace),
        trace == "tokens",
        own.string("service"),
        _timeout(own),
        cast(
            AdditionalProperties | None,
            own.choice("additional_properties", get_args(AdditionalProperties)),
        ),
        cast(Numbers | None, own.choice("numbers", get_args(Numbers))),
        own.boolean("report"),
        own.boolean("explain"),
        own.boolean("length_if_shortened", default=True),
        _continuation(own),
        cast(UnusableTools, own.choice("unusable_tools", get_args(UnusableTools)) or "refuse"),
    )


def _continuation(own: Fields) -> StreamBeginning | None:
    value = own.get("continuation")
    return None if value is None else parse_continuation(value)


def _timeout(own: Fields) -> float | None:
    value = own.get("timeout")
    if value is None:
        return None
    seconds = as_number(value)
    if seconds is None or seconds <= 0:
        raise invalid(own.at("timeout"), "a number of seconds above 0", value)
    return seconds
