"""The whole document, for the routes of an application, and the endpoint that serves it; what each
method of each path takes and answers; the error object, and its codes by status. The bodies of
requests are described by their models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from msgspec import field
from msgspec.structs import replace
from pydantic.json_schema import models_json_schema
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from maskwright.immutable import Immutable
from maskwright.server.batches.batch_routes import (
    DEFAULT_BATCHES,
    MOST_BATCHES,
    MOST_FILES,
    BatchRequest,
)
from maskwright.server.config import ServerConfig
from maskwright.server.errors import MESSAGE_CHARACTERS, PARAM_CHARACTERS, is_anthropic
from maskwright.server.guarantees.explain_route import ExplainAnswerRequest, ExplainTextRequest
from maskwright.server.json import (
    ANYTHING,
    TEXT,
    Json,
    Schemas,
    constant,
    either,
    integer,
    nullable,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.openapi.answer_schemas import ANSWER_SCHEMAS
from maskwright.server.pages import StaticFile
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.completion_requests import ChatCompletionRequest, CompletionRequest
from maskwright.server.request.model import RequestModel
from maskwright.server.request.response_request import ResponseRequest
from maskwright.server.request.sampling_fields import HARMLESS, GeneratingRequest
from maskwright.server.route import Endpoint
from maskwright.server.shapes import CheckRequest, DrawRequest, SampleRequest
from maskwright.server.token_routes import (
    DetokenizeRequest,
    TokenizeChatRequest,
    TokenizeContentRequest,
    TokenizeTextRequest,
)
from maskwright.version import VERSION

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
HTML: Final = "text/html"
NAMED_EVENTS: Final = (ref("ResponseEvent"), ref("AnthropicEvent"))
"""The schemas of the events of streams whose events have names."""

_PROMPT: Final = [{"role": "user", "content": "Name a colour."}]
_COLOUR: Final[Json] = {"type": "object", "properties": {"colour": {"type": "string"}}}
_SHAPE: Final[Json] = {"shape": '{"enum": ["red", "blue"]}', "kind": "schema"}


class Operation(Immutable):
    """One method of a path.

    - `id`: its name, `about`: a line of what it does, `tag`: the group that it belongs to.
    - `gives`: the schemas of its answers by media type; `takes`: those of its body.
    - `errors`: the statuses of its errors, besides those that every operation may answer.
    - `queries`: the schemas of its parameters in the query.
    - `needs_key`: it is for clients with a key, on a server with keys.
    - `examples`: bodies that can be sent, by a name.
    """

    id: str
    about: str
    gives: Mapping[str, Json]
    errors: tuple[int, ...] = ()
    takes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    queries: Mapping[str, Json] = field(default_factory=dict[str, Json])
    needs_key: bool = True
    examples: Mapping[str, Json] = field(default_factory=dict[str, Json])
    tag: str = ""


Operations: TypeAlias = Mapping[tuple[str, str], Operation]
"""Operations by method, or several of them, and path, without `/v1`."""


def _giving(id: str, about: str, gives: str, *errors: int, **more: Any) -> Operation:
    """Return an operation. `gives`: the name of its answer's schema."""
    return Operation(id, about, {JSON: ref(gives)}, errors, **more)


def _taking(
    id: str, about: str, takes: str, gives: str, *errors: int, **examples: Json
) -> Operation:
    """Return an operation. `takes`, `gives`: the names of the schemas of its body and answer."""
    usual, body = (400, 413, 415, 429, 503), {JSON: ref(takes)}
    return _giving(id, about, gives, *usual, *errors, takes=body, examples=examples)


def _generating(id: str, about: str, names: tuple[str, str, str], **examples: Json) -> Operation:
    """Return an operation. `names`: of its request, its answer and its events."""
    request, answer, event = names
    failed = "If the answer fails after its beginning, the last event holds the error."
    events = ref(event)
    if events not in NAMED_EVENTS:
        events = either(events, ref("Error"), about=failed)
    operation = _taking(id, about, request, answer, 403, 404, 504, **examples)
    return replace(operation, gives={JSON: ref(answer), EVENTS: events})


def _probe(id: str, about: str, *, has_body: bool = True) -> Operation:
    gives = {JSON: ref("Health")} if has_body else dict[str, Json]()
    return Operation(id, about, gives, (503,), needs_key=False)


def _page(id: str, about: str, *kinds: str) -> Operation:
    gives: dict[str, Json] = {kind: {"type": "object"} if kind == JSON else TEXT for kind in kinds}
    return Operation(id, about, gives, needs_key=False)


_GENERATING: Final[Operations] = {
    ("POST", "/chat/completions"): _generating(
        "createChatCompletion",
        "Answer a conversation",
        ("ChatCompletionRequest", "ChatCompletion", "ChatCompletionChunk"),
        text={"messages": _PROMPT, "max_tokens": 8},
        json={
            "messages": _PROMPT,
            "max_tokens": 64,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "c", "schema": _COLOUR},
            },
            "logprobs": True,
        },
        tool={
            "messages": _PROMPT,
            "tools": [{"type": "function", "function": {"name": "look", "parameters": _COLOUR}}],
            "tool_choice": "required",
            "seed": 1,
        },
        stream={
            "messages": _PROMPT,
            "max_tokens": 8,
            "stream": True,
            "stream_options": {"include_usage": True},
        },
        report={
            "messages": _PROMPT,
            "guided_choice": ["red", "blue"],
            "maskwright": {"report": True, "trace": True},
        },
    ),
    ("POST", "/completions"): _generating(
        "createCompletion",
        "Continue texts or token ids",
        ("CompletionRequest", "Completion", "CompletionChunk"),
        text={"prompt": "Red, green,", "max_tokens": 4},
        scores={"prompt": ["Red", "Blue"], "max_tokens": 4, "logprobs": 2, "echo": True},
        stream={"prompt": "Red", "max_tokens": 4, "stream": True},
    ),
    ("POST", "/responses"): _generating(
        "createResponse",
        "Answer a conversation in the responses protocol; nothing is stored",
        ("ResponseRequest", "Response", "ResponseEvent"),
        text={"input": "Name a colour.", "max_output_tokens": 8},
        json={
            "input": "Name a colour.",
            "max_output_tokens": 64,
            "text": {"format": {"type": "json_schema", "name": "c", "schema": _COLOUR}},
        },
        tool={
            "input": "Name a colour.",
            "tools": [{"type": "function", "name": "look", "parameters": _COLOUR}],
            "tool_choice": "required",
            "stream": True,
        },
    ),
    ("POST", "/messages"): _generating(
        "createMessage",
        "Answer a conversation in Anthropic's protocol",
        ("AnthropicRequest", "AnthropicAnswer", "AnthropicEvent"),
        text={"messages": _PROMPT, "max_tokens": 8},
        json={
            "messages": _PROMPT,
            "max_tokens": 64,
            "output_config": {"format": {"type": "json_schema", "schema": _COLOUR}},
        },
        tool={
            "messages": _PROMPT,
            "max_tokens": 64,
            "tools": [{"name": "look", "input_schema": _COLOUR}],
            "tool_choice": {"type": "any"},
            "stream": True,
        },
    ),
}
_SHAPES: Final[Operations] = {
    ("POST", "/explain"): replace(
        _taking(
            "explain",
            "What may follow a text, why it isn't allowed, or how an answer's tokens were chosen",
            "ExplainRequest",
            "ExplainedText",
            404,
            text={"guided_json": {"enum": ["red", "blue"]}, "text": '"gr'},
            tokens={"guided_regex": "[ab]+c", "tokens": [], "candidates": [0, 1]},
        ),
        gives={JSON: either(ref("ExplainedText"), ref("ExplainedAnswer"))},
    ),
    ("POST", "/check"): _taking(
        "checkShape",
        "Whether a shape can be used, and what is found in it",
        *("CheckRequest", "CheckedShape"),
        schema=_SHAPE,
        mistake={"shape": "(", "kind": "regex"},
    ),
    ("POST", "/sample"): _taking(
        "sampleShape",
        "Texts of a shape",
        *("SampleRequest", "SampledShape"),
        texts={**_SHAPE, "count": 2},
    ),
    ("POST", "/draw"): _taking(
        "drawShape",
        "A picture of a shape",
        *("DrawRequest", "DrawnShape"),
        picture=_SHAPE,
        graph={**_SHAPE, "as": "graph"},
    ),
    ("GET", "/examples"): _giving("listExamples", "Shapes that ship", "Examples"),
}
_TOKENS: Final[Operations] = {
    ("POST", "/tokenize"): _taking(
        "tokenize",
        "The tokens of texts or of a chat",
        *("TokenizeRequest", "TokenizedText"),
        text={"prompt": "red", "return_token_strs": True},
        texts={"prompt": ["red", "blue"]},
        chat={"messages": _PROMPT},
        pieces={"content": "red", "with_pieces": True},
    ),
    ("POST", "/detokenize"): _taking(
        "detokenize",
        "The text of tokens",
        *("DetokenizeRequest", "DetokenizedText"),
        ids={"tokens": [1, 2]},
        many={"tokens": [[1], [2]]},
    ),
    ("POST", "/responses/input_tokens"): _taking(
        "countResponseInput",
        "How many tokens the prompt of a response has",
        *("ResponseRequest", "InputTokens"),
        text={"input": "red"},
    ),
    ("POST", "/messages/count_tokens"): _taking(
        "countMessageInput",
        "How many tokens the prompt of a message has",
        *("AnthropicRequest", "InputTokens"),
        text={"messages": [{"role": "user", "content": "red"}]},
    ),
}
_AFTER: Final = text("The id of the object before the first one.")
_BATCHES: Final[Operations] = {
    ("POST", "/files"): _giving(
        "uploadFile",
        "Store a file",
        "File",
        *(400, 413, 415, 429, 503),
        takes={"multipart/form-data": ref("FileUpload")},
    ),
    ("GET", "/files"): _giving(
        "listFiles",
        "The files",
        "FileList",
        400,
        queries={
            "limit": integer(1, MOST_FILES, default=MOST_FILES),
            "after": _AFTER,
            "order": one_of(("asc", "desc"), default="desc"),
            "purpose": TEXT,
        },
    ),
    ("GET", "/files/{id}"): _giving("describeFile", "One file", "File", 404),
    ("DELETE", "/files/{id}"): _giving(
        "deleteFile", "Remove a file", "DeletedFile", 400, 404, 429, 503
    ),
    ("GET", "/files/{id}/content"): Operation(
        "readFile", "What a file holds", {"application/octet-stream": ANYTHING}, (404,)
    ),
    ("POST", "/batches"): _taking("createBatch", "Begin a batch", "BatchRequest", "Batch", 404),
    ("GET", "/batches"): _giving(
        "listBatches",
        "The batches",
        "BatchList",
        400,
        queries={"limit": integer(1, MOST_BATCHES, default=DEFAULT_BATCHES), "after": _AFTER},
    ),
    ("GET", "/batches/{id}"): _giving("describeBatch", "One batch", "Batch", 404),
    ("POST", "/batches/{id}/cancel"): _giving(
        "cancelBatch", "End a batch", "Batch", 400, 404, 429, 503
    ),
}
"""Files and batches, on a server with a folder for them."""

_SERVER: Final[Operations] = {
    ("GET HEAD", "/health"): _probe("health", "Whether the engine runs"),
    ("GET HEAD", "/live"): _probe("live", "Whether the engine runs"),
    ("GET HEAD", "/ready"): _probe("ready", "Whether new requests are let in"),
    ("GET POST", "/ping"): _probe(
        "ping", "Whether the engine runs, with an empty body", has_body=False
    ),
    ("GET", "/models"): _giving("listModels", "The models", "ModelList"),
    ("GET", "/models/{name}"): _giving("describeModel", "One model or adapter", "Model", 404),
    ("GET", "/metrics"): Operation(
        "metrics",
        "Metrics for Prometheus",
        {"text/plain": TEXT, "application/openmetrics-text": TEXT},
    ),
    ("GET", "/state"): _giving(
        "state",
        "What the dashboard shows",
        "State",
        400,
        queries={
            "since": text("Only the answers after this number.", pattern="^[0-9]+$"),
            "history": one_of(("0", "1"), "1: with the last hour.", default="0"),
        },
    ),
    ("GET", "/load"): _giving("load", "How many requests run or wait", "Load"),
    ("GET", "/version"): _giving("version", "The version", "Version"),
}
_PAGES: Final[Operations] = {
    ("GET HEAD", "/"): _page("playground", "The playground", HTML),
    ("GET HEAD", "/dashboard"): _page("dashboard", "The dashboard", HTML),
    ("GET HEAD", "/docs"): _page("docs", "This document, to be read", HTML),
    ("GET HEAD", "/openapi.json"): _page("openapi", "This document", JSON),
    ("GET HEAD", "/pages/{page}/{file}"): _page(
        "pageFile", "A file of a page", "text/css", "text/javascript", "image/svg+xml", HTML
    ),
}


def operations(*, has_batches: bool) -> Operations:
    """Return all operations. `has_batches`: the server has a folder for batches; else it answers
    none of the operations of files and batches."""
    without = {
        place: replace(
            operation,
            about=f"{operation.about} (needs `serve --batch-folder FOLDER`)",
            errors=tuple(sorted({*operation.errors, 404, 429, 503})),
        )
        for place, operation in _BATCHES.items()
    }
    groups: Mapping[str, Operations] = {
        "Generation": _GENERATING,
        "Shapes": _SHAPES,
        "Tokens": _TOKENS,
        "Batches": _BATCHES if has_batches else without,
        "Server": _SERVER,
        "Pages": _PAGES,
    }
    return {
        (method, path): replace(operation, tag=tag)
        for tag, group in groups.items()
        for (methods, path), operation in group.items()
        for method in methods.split()
    }


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


def error_responses() -> Json:
    """Return the responses to errors, by name."""
    return {f"{form}{status}": _response(status, form) for status in CODES for form in FORMS}


def _response(status: int, form: str) -> Json:
    body = {**ref(form), "description": f"Codes: {', '.join(CODES[status])}."}
    headers = ["x-request-id", *(["retry-after"] if status in (429, 503) else [])]
    return {
        "description": ABOUT[status],
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
        "content": {"application/json": {"schema": body}},
    }


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
"""Fields without effect that don't accept all values: a shape is refused."""


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


OPENAPI: Final = "3.1.0"
DONE: Final = "[DONE]"
VERSIONED: Final = "/v1"
ALWAYS: Final = (500,)
"""Statuses of errors that every operation may answer."""

_ABOUT: Final = (
    "The HTTP interface of one model. A field of a request that would change the answer is obeyed, "
    "or refused by name. Every path works with and without `/v1`, except paths of pages."
)
_HEADERS: Final[Json] = {
    "x-request-id": {
        "schema": text(),
        "description": "The client's id of the request, or a new one.",
    },
    "retry-after": {"schema": text(), "description": "Seconds after which to come back."},
}
_FILE: Final = re.compile(r"/pages/[^/]+/[^/]+")


def document(
    routes: Iterable[BaseRoute], *, has_keys: bool, has_batches: bool, open_metrics: bool
) -> Json:
    """Return the document. Raises KeyError for a route that is not described.

    - `has_keys`: clients need a key.
    - `has_batches`: the server has a folder for batches.
    - `open_metrics`: metrics need no key.
    """
    known = operations(has_batches=has_batches)
    paths: dict[str, Json] = {}
    for method, path in served(routes):
        operation = known[method, path.removeprefix(VERSIONED)]
        is_open = not operation.needs_key or (open_metrics and operation.id == "metrics")
        described = _described(operation, method, path)
        if has_keys and is_open:
            described["security"] = []
        if has_keys and not is_open:
            responses = cast(Json, described["responses"])
            responses["401"] = _error(401, path)
        paths.setdefault(path, {})[method.lower()] = described
    keys: Json = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
    return {
        "openapi": OPENAPI,
        "info": {"title": "Maskwright", "version": VERSION, "description": _ABOUT},
        "servers": [{"url": "/"}],
        **({"security": [{"key": []}]} if has_keys else {}),
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "responses": error_responses(),
            "headers": _HEADERS,
            **(keys if has_keys else {}),
        },
    }


def schemas() -> Json:
    """Return the schemas that the document refers to, by their names."""
    return {**ANSWER_SCHEMAS, **error_schemas(), **request_schemas()}


def served(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Yield each method and path of an application once. The files of pages are one path."""
    found: dict[tuple[str, str], None] = {}
    for route in routes:
        if isinstance(route, Endpoint):
            path = re.sub(r"\{(\w+):path\}", r"{\1}", route.path)
            path = _FILE.sub("/pages/{page}/{file}", path)
            found |= dict.fromkeys((method, path) for method in sorted(route.methods))
    return iter(found)


def _described(operation: Operation, method: str, path: str) -> Json:
    alias = "" if path.startswith(VERSIONED) or operation.tag == "Pages" else "Unversioned"
    head = (
        "Head" if method == "HEAD" else "Post" if (method, operation.id) == ("POST", "ping") else ""
    )
    described: dict[str, Any] = {
        "operationId": f"{operation.id}{head}{alias}",
        "summary": operation.about,
        "tags": [operation.tag],
        "responses": _responses(operation, path, has_body=method != "HEAD"),
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": text()}
        for name in re.findall(r"\{(\w+)\}", path)
    ]
    parameters += [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in operation.queries.items()
    ]
    if parameters:
        described["parameters"] = parameters
    if operation.takes:
        content: dict[str, Json] = {
            kind: {"schema": schema} for kind, schema in operation.takes.items()
        }
        if operation.examples:
            examples = {name: {"value": body} for name, body in operation.examples.items()}
            content[JSON]["examples"] = examples
        described["requestBody"] = {"required": True, "content": {**content}}
    return described


def _responses(operation: Operation, path: str, *, has_body: bool) -> Json:
    answer: Json = {
        "description": operation.about,
        "headers": {"x-request-id": {"$ref": "#/components/headers/x-request-id"}},
    }
    if operation.gives and has_body:
        answer["content"] = {
            kind: {"schema": _event(schema) if kind == EVENTS else schema}
            for kind, schema in operation.gives.items()
        }
    errors = sorted({*operation.errors, *ALWAYS})
    return {"200": answer, **{str(status): _error(status, path) for status in errors}}


def _event(data: Json) -> Json:
    """Return the schema of a server-sent event; `data`: that of its data. The schema of a response
    of events is about each of them."""
    json_text = text(contentMediaType=JSON, contentSchema=data)
    if data in NAMED_EVENTS:
        return record({"event": text("The `type` of the data."), "data": json_text})
    done = constant(DONE, "After the last event of every stream that has not failed.")
    return record({"data": either(done, json_text)})


def _error(status: int, path: str) -> Json:
    form = "AnthropicError" if is_anthropic(path) else "Error"
    return {"$ref": f"#/components/responses/{form}{status}"}


PATH: Final = "/openapi.json"


class DocumentRoute:
    """Serves the document of one application, which is made when it is first asked for: the start
    of a server doesn't wait for it."""

    def __init__(self, app: Starlette, config: ServerConfig) -> None:
        self._app = app
        self._config = config
        self._made: StaticFile | None = None

    async def document(self, http: Request) -> Response:
        if self._made is None:
            made = document(
                self._app.routes,
                has_keys=self._config.keys is not None,
                has_batches=self._config.batch_folder is not None,
                open_metrics=self._config.open_metrics,
            )
            text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
            self._made = StaticFile(text.encode(), "application/json")
        return self._made.response(http)


def add_document(app: Starlette, config: ServerConfig) -> str:
    """Add the endpoint to an application. Returns its path, for which no key is needed: the
    document holds no data, and a reader of `/docs` may not have a key yet."""
    route = DocumentRoute(app, config)
    app.routes.append(Endpoint(PATH, route.document, ["GET", "HEAD"]))
    return PATH
