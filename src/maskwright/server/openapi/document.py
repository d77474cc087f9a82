"""The whole document, for the routes of an application, and the endpoint that serves it. The bodies
of requests are described by their models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from pydantic.json_schema import models_json_schema
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from maskwright.server.batches.batch_routes import BatchRequest
from maskwright.server.config import ServerConfig
from maskwright.server.guarantees.explain_route import ExplainAnswerRequest, ExplainTextRequest
from maskwright.server.json import Json
from maskwright.server.openapi.answer_schemas import (
    answer_schemas,
    anthropic_schemas,
    response_schemas,
)
from maskwright.server.openapi.builders import (
    ANYTHING,
    Schemas,
    constant,
    either,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.openapi.operations import (
    EVENTS,
    JSON,
    NAMED_EVENTS,
    Operation,
    error_name,
    error_responses,
    error_schemas,
    operations,
)
from maskwright.server.openapi.service_schemas import (
    batch_schemas,
    service_schemas,
    workbench_schemas,
)
from maskwright.server.pages import StaticFile
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.completion_requests import ChatCompletionRequest, CompletionRequest
from maskwright.server.request.model import RequestModel
from maskwright.server.request.refusals import HARMLESS
from maskwright.server.request.response_request import ResponseRequest
from maskwright.server.request.sampling_fields import GeneratingRequest
from maskwright.server.route import Endpoint
from maskwright.server.shapes import CheckRequest, DrawRequest, SampleRequest
from maskwright.server.token_routes import (
    DetokenizeRequest,
    TokenizeChatRequest,
    TokenizeContentRequest,
    TokenizeTextRequest,
)
from maskwright.version import VERSION

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
            responses["401"] = _error(401, operation.error)
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
    return {
        **anthropic_schemas(),
        **answer_schemas(),
        **batch_schemas(),
        **error_schemas(),
        **request_schemas(),
        **response_schemas(),
        **service_schemas(),
        **workbench_schemas(),
    }


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
        "responses": _responses(operation, has_body=method != "HEAD"),
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
        described["requestBody"] = {"required": True, "content": _taken(operation)}
    return described


def _taken(operation: Operation) -> Json:
    content: dict[str, Json] = {
        kind: {"schema": schema} for kind, schema in operation.takes.items()
    }
    if operation.examples:
        examples = {name: {"value": body} for name, body in operation.examples.items()}
        content[JSON]["examples"] = examples
    return {**content}


def _responses(operation: Operation, *, has_body: bool) -> Json:
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
    return {"200": answer, **{str(status): _error(status, operation.error) for status in errors}}


def _event(data: Json) -> Json:
    """Return the schema of a server-sent event; `data`: that of its data. The schema of a response
    of events is about each of them."""
    json_text = text(contentMediaType=JSON, contentSchema=data)
    if data in NAMED_EVENTS:
        return record({"event": text("The `type` of the data."), "data": json_text})
    done = constant(DONE, "After the last event of every stream that has not failed.")
    return record({"data": either(done, json_text)})


def _error(status: int, form: str) -> Json:
    return {"$ref": f"#/components/responses/{error_name(status, form)}"}


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
