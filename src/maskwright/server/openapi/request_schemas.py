"""The bodies of requests, from their models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic.json_schema import models_json_schema

from maskwright.server.batches.batch_routes import BatchRequest
from maskwright.server.json import Json
from maskwright.server.openapi.builders import ANYTHING, Schemas, either, one_of, ref
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.explain_request import ExplainAnswerRequest, ExplainTextRequest
from maskwright.server.request.model import RequestModel
from maskwright.server.request.protocol import ChatCompletionRequest
from maskwright.server.request.refusals import HARMLESS
from maskwright.server.request.response_request import ResponseRequest
from maskwright.server.request.sampling_fields import GeneratingRequest
from maskwright.server.request.text_request import CompletionRequest
from maskwright.server.request.token_requests import (
    DetokenizeRequest,
    TokenizeChatRequest,
    TokenizeContentRequest,
    TokenizeTextRequest,
)
from maskwright.server.shapes.given_shape import CheckRequest, DrawRequest, SampleRequest

UNKNOWN: Final = (
    "Fields that are not listed are accepted without effect, unless their names look like a "
    "constraint on the answer or like the name of a field that is obeyed: these are refused, so "
    "that a typing error never drops a field. A null counts as an absent field."
)
GENERATING: Final[tuple[type[GeneratingRequest], ...]] = (
    ChatCompletionRequest,
    CompletionRequest,
    ResponseRequest,
    AnthropicRequest,
)
_OTHERS: Final[tuple[type[RequestModel], ...]] = (
    CheckRequest,
    DetokenizeRequest,
    DrawRequest,
    ExplainAnswerRequest,
    ExplainTextRequest,
    SampleRequest,
    TokenizeChatRequest,
    TokenizeContentRequest,
    TokenizeTextRequest,
)
_HARMLESS_FORMS: Final[Mapping[str, Json]] = {
    "text": {
        "not": {
            "type": "object",
            "properties": {
                "format": {
                    "type": "object",
                    "not": {"properties": {"type": {"const": "text"}}, "required": ["type"]},
                }
            },
            "required": ["format"],
        }
    }
}
"""Of fields without effect, those of which not all values are accepted: a shape is refused."""


def request_schemas() -> Schemas:
    """Return the schemas of all bodies."""
    models = [*GENERATING, *_OTHERS, BatchRequest]
    _, made = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    found = cast(dict[str, dict[str, Any]], made["$defs"])
    for model in GENERATING:
        _add_refused(found[model.__name__], model)
    return {
        **found,
        "ExplainRequest": either(ref("ExplainTextRequest"), ref("ExplainAnswerRequest")),
        "TokenizeRequest": either(
            ref("TokenizeTextRequest"),
            ref("TokenizeChatRequest"),
            ref("TokenizeContentRequest"),
            about="A text, several texts or a chat, as in vLLM, SGLang or llama.cpp.",
        ),
    }


def _add_refused(schema: dict[str, Any], model: type[GeneratingRequest]) -> None:
    """Add the fields without effect, and those that are refused unless they have none."""
    properties = schema["properties"]
    for name in sorted(HARMLESS - properties.keys()):
        form = _HARMLESS_FORMS.get(name, ANYTHING)
        properties[name] = {**form, "description": "Accepted, and without effect."}
    for name, neutral in sorted(model.neutral.items()):
        if name not in properties:
            way_out = model.ways_out.get(name, "leave it out")
            about = f"Not supported, and refused unless it has no effect; {way_out}."
            properties[name] = one_of([None, *neutral], about)
    schema["description"] = UNKNOWN
