"""The error object, and its codes by status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maskwright.server.errors import MESSAGE_CHARACTERS, PARAM_CHARACTERS
from maskwright.server.json import Json
from maskwright.server.openapi.builders import Schemas, either, nullable, one_of, record, ref, text

CODES: Final[Mapping[int, tuple[str, ...]]] = {
    400: (
        "batch_ended",
        "conflicting_constraints",
        "context_length_exceeded",
        "cors_refused",
        "duplicate_tool",
        "empty_support",
        "file_in_use",
        "invalid_content_type",
        "invalid_encoding",
        "invalid_form",
        "invalid_grammar",
        "invalid_json",
        "invalid_json_schema",
        "invalid_regex",
        "invalid_structural_tag",
        "invalid_value",
        "limit_exceeded",
        "max_tokens_too_small",
        "missing_required_parameter",
        "no_chat_template",
        "quota_too_small",
        "unknown_field",
        "unsatisfiable_grammar",
        "unsatisfiable_json_schema",
        "unspellable",
        "unsupported_content",
        "unsupported_grammar",
        "unsupported_json_schema",
        "unsupported_parameter",
        "unsupported_value",
    ),
    401: ("invalid_api_key",),
    403: ("service_not_allowed",),
    404: ("batch_not_found", "batches_off", "file_not_found", "model_not_found", "not_found"),
    405: ("method_not_allowed",),
    413: ("body_too_large", "file_too_large"),
    415: ("unsupported_encoding",),
    429: ("overloaded", "rate_limit_exceeded"),
    500: ("internal_error",),
    503: ("draining", "engine_stopped"),
    504: ("timeout",),
}
"""The codes of errors, by the status of the response."""

ABOUT: Final[Mapping[int, str]] = {
    400: "The request is wrong, or asks for what isn't supported.",
    401: "The server has keys, and the request has none of them.",
    403: "The key may not use this class of service.",
    404: "There is no such path, model, file, batch or answer.",
    405: "The path has no such method.",
    413: "The body, or a file, is too large.",
    415: "The body is compressed in another way than gzip or deflate.",
    429: "The server is busy, or a limit of the key is used up.",
    500: "A defect of the server; its log has the request's id.",
    503: "The engine has stopped, or the server is being stopped.",
    504: "The answer was not complete within its timeout.",
}

TYPES: Final = (
    *("invalid_request_error", "authentication_error", "permission_error"),
    *("rate_limit_error", "server_error"),
)


def error_schemas() -> Schemas:
    codes = sorted({code for codes in CODES.values() for code in codes})
    error = record(
        {
            "message": text(maxLength=MESSAGE_CHARACTERS),
            "type": one_of(TYPES),
            "param": nullable(
                text(
                    "The dotted path of the field that the error is about.",
                    maxLength=PARAM_CHARACTERS,
                )
            ),
            "code": nullable(one_of(codes, "A stable word for programs.")),
        }
    )
    return {"Error": record({"error": error}, about="The body of every error.")}


FORMS: Final = ("Error", "AnthropicError")
"""The schemas of errors, one for each form."""


def error_name(status: int, form: str) -> str:
    """Return the name under which the document has the response to an error in a form."""
    return f"{form}{status}"


def error_responses() -> Json:
    """Return the responses to errors, by name."""
    return {error_name(status, form): _response(status, form) for status in CODES for form in FORMS}


def _response(status: int, form: str) -> Json:
    body = {**ref(form), "description": f"Codes: {', '.join(CODES[status])}."}
    headers = ["x-request-id", *(["retry-after"] if status in (429, 503) else [])]
    return {
        "description": ABOUT[status],
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
        "content": {"application/json": {"schema": body}},
    }


def stream_error(name: str) -> Json:
    """Return the schema of an event of a stream: one of the schema `name`, or an error."""
    about = "If the answer fails after its beginning, the last event holds the error."
    return either(ref(name), ref("Error"), about=about)
