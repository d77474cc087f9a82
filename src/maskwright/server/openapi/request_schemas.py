"""The bodies of the requests that generate answers, from the parser's tables of names."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from maskwright.sampling import MOST_LOGPROBS
from maskwright.server.json import Json
from maskwright.server.openapi.anthropic_schemas import anthropic_fields
from maskwright.server.openapi.builders import (
    ANYTHING,
    Schemas,
    array,
    either,
    flag,
    integer,
    nullable,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.openapi.message_schemas import (
    input_fields,
    prompt_fields,
    template_fields,
)
from maskwright.server.openapi.sampling_schemas import (
    TOKEN_ID,
    own_schemas,
    reply_fields,
    sampling_fields,
)
from maskwright.server.openapi.shape_schemas import shape_fields
from maskwright.server.openapi.tool_schemas import function_fields, tool_fields
from maskwright.server.request import (
    anthropic_request,
    protocol,
    response_request,
    text_request,
)
from maskwright.server.request.refusals import HARMLESS, NEUTRAL, WAYS_OUT
from maskwright.server.request.sampling_fields import MAX_CHOICES, MAX_TOKENS

UNKNOWN: Final = (
    "Fields that are not listed are accepted without effect, unless their names look like a "
    "constraint on the answer or like the name of a field that is obeyed: these are refused, so "
    "that a typing error never drops a field. A null counts as an absent field."
)
_MODEL: Final[Json] = text("The model or an adapter; by default the model that is served.")
_LIMIT: Final[Json] = integer(1, MAX_TOKENS, "The most tokens of the answer.")
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
_TOP: Final[Json] = integer(0, MOST_LOGPROBS, "How many alternatives are told for each token.")


def request_schemas() -> Schemas:
    chat = _body(_chat_fields(), protocol.OBEYED, {}, "messages")
    written = _body(
        _text_fields(), text_request.OBEYED, text_request.REFUSED, "prompt", text_request.WAYS_OUT
    )
    obeyed, refused = response_request.OBEYED, response_request.REFUSED
    responses = _body(_response_fields(), obeyed, refused, ways_out=response_request.WAYS_OUT)
    return {
        "ChatCompletionRequest": chat,
        "CompletionRequest": written,
        "ResponseRequest": responses,
        "AnthropicRequest": _anthropic(),
        **own_schemas(),
    }


def _chat_fields() -> Schemas:
    return {
        **_common(),
        **prompt_fields(),
        **tool_fields(),
        **function_fields(),
        "logprobs": flag("Return the log-probability of each token.", default=False),
        "max_completion_tokens": _LIMIT,
        "max_tokens": {**_LIMIT, "description": "The older name of `max_completion_tokens`."},
        "top_logprobs": {**_TOP, "description": f"{_TOP['description']} Needs `logprobs: true`."},
    }


def _text_fields() -> Schemas:
    ids, some_text = array(TOKEN_ID, minItems=1), text(minLength=1)
    prompt = either(some_text, ids, array(either(some_text, ids), minItems=1))
    return {
        **_common(),
        "add_special_tokens": flag("The tokenizer may add special tokens.", default=True),
        "best_of": integer(1, MAX_CHOICES, "So many answers are made; the `n` likeliest count."),
        "echo": flag("The prompt comes before the answer.", default=False),
        "logprobs": _TOP,
        "max_completion_tokens": _LIMIT,
        "max_tokens": integer(
            0, MAX_TOKENS, "0 needs `echo: true`.", default=text_request.DEFAULT_TOKENS
        ),
        "prompt": prompt,
    }


def _response_fields() -> Schemas:
    format: Schemas = {
        "format": nullable(ref("ResponseFormat")),
        "verbosity": nullable(one_of(response_request.VERBOSITIES)),
    }
    about = f"`{response_request.LOGPROBS}` asks for log-probabilities; others have no effect."
    return {
        **_common(),
        **input_fields(),
        **tool_fields(),
        **dict.fromkeys(response_request.LABELS, text()),
        "safety_identifier": text(maxLength=response_request.MOST_IDENTIFIER),
        "include": either(text(), array(text()), about=about),
        "max_output_tokens": _LIMIT,
        "max_tool_calls": integer(0, sys.maxsize),
        "metadata": {"type": "object", "additionalProperties": text()},
        "text": record({}, format, closed=True),
        "top_logprobs": _TOP,
        "truncation": one_of(("disabled", "auto")),
    }


def _anthropic() -> Json:
    fields = {**_common(), **template_fields(), **anthropic_fields(), "max_tokens": _LIMIT}
    obeyed, refused = anthropic_request.OBEYED, anthropic_request.REFUSED
    return _body(fields, obeyed, refused, "messages", anthropic_request.WAYS_OUT)


def _common() -> Schemas:
    return {**sampling_fields(), **shape_fields(), **reply_fields(), "model": _MODEL}


def _body(
    fields: Schemas,
    obeyed: frozenset[str],
    refused: Mapping[str, tuple[object, ...]],
    required: str | None = None,
    ways_out: Mapping[str, str] | None = None,
) -> Json:
    """Describe a body by what the parser does with each field: it obeys it, takes no notice of it,
    or refuses all of its values but those without an effect. `ways_out`: what to do instead at
    this endpoint."""
    properties: dict[str, Json] = {name: nullable(fields[name]) for name in sorted(obeyed)}
    if required is not None:
        properties[required] = fields[required]
    for name in sorted(HARMLESS - obeyed):
        form = nullable(fields[name]) if name in fields else _HARMLESS_FORMS.get(name, ANYTHING)
        properties[name] = {**form, "description": "Accepted, and without effect."}
    for name, neutral in sorted({**NEUTRAL, **refused}.items()):
        if name not in properties:
            properties[name] = _refused(name, neutral, {**WAYS_OUT, **(ways_out or {})})
    return {
        "type": "object",
        "description": UNKNOWN,
        "properties": properties,
        "required": [] if required is None else [required],
    }


def _refused(name: str, neutral: tuple[object, ...], ways_out: Mapping[str, str]) -> Json:
    way_out = ways_out.get(name, "leave it out")
    about = f"Not supported, and refused unless it has no effect; {way_out}."
    return one_of([None, *neutral], about)
