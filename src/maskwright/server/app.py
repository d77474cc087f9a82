"""The HTTP application: its routes, and how a chat request is answered."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from maskwright.engine import Engine
from maskwright.errors import InputError, MaskwrightError
from maskwright.processes import GrammarProcesses
from maskwright.server.answer.answers import Envelope, Usage, model_card
from maskwright.server.answer.choices import Choices
from maskwright.server.answer.streaming import ChatStream
from maskwright.server.completions import ChatCompletions
from maskwright.server.config import ServerConfig
from maskwright.server.disconnect import ClientGoneError, until_disconnect
from maskwright.server.errors import HttpError, code_of, describe, error_response
from maskwright.server.exchange import Exchange, exchange_of
from maskwright.server.json import Json
from maskwright.server.middleware import Exchanges
from maskwright.server.observe.metrics import Metrics
from maskwright.server.observe.observer import Observer
from maskwright.server.observe.traces import RequestTrace, TraceSink
from maskwright.server.request.body import read_object
from maskwright.server.request.own_options import OwnOptions
from maskwright.server.request.protocol import parse_chat_request

# Nginx's status for a request whose client has disconnected. Only logs and metrics show it.
CLIENT_GONE = 499

WARNINGS = "x-maskwright-warnings"
MOST_WARNINGS = 10


def create_app(
    engine: Engine,
    config: ServerConfig | None = None,
    sinks: Sequence[TraceSink] = (),
    processes: GrammarProcesses | None = None,
) -> FastAPI:
    """Return the application for a started engine, which the caller has to stop. `sinks` get the
    trace of every choice. Grammars are compiled and followed in `processes`, or else in this
    process."""
    config = config or ServerConfig()
    metrics = Metrics(engine, config.model_name or engine.loaded.name, processes)
    routes = Routes(engine, config, metrics, processes)
    app = FastAPI(title="Maskwright", openapi_url=None, redirect_slashes=False)
    for prefix in ("/v1", ""):
        app.add_api_route(f"{prefix}/chat/completions", routes.chat, methods=["POST"])
        app.add_api_route(f"{prefix}/models", routes.models, methods=["GET"])
        app.add_api_route(f"{prefix}/models/{{name:path}}", routes.model, methods=["GET"])
        app.add_api_route(f"{prefix}/metrics", routes.metrics, methods=["GET"])
        app.add_api_route(f"{prefix}/health", routes.health, methods=["GET", "HEAD"])
    app.add_exception_handler(MaskwrightError, _answer)
    app.add_exception_handler(HttpError, _answer)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(ClientGoneError, _answer_nobody)
    app.add_middleware(Exchanges, observer=Observer(metrics, sinks))
    return app


class Routes:
    """The endpoints of one engine."""

    def __init__(
        self,
        engine: Engine,
        config: ServerConfig,
        metrics: Metrics,
        processes: GrammarProcesses | None,
    ) -> None:
        self._engine = engine
        self._config = config
        self._name = config.model_name or engine.loaded.name
        if self._name in engine.adapters:
            raise InputError(
                f"an adapter and the model are both named {self._name}; --name gives the model "
                "another",
                param="adapter",
            )
        self._created = int(time.time())
        self._metrics = metrics
        self._completions = ChatCompletions(engine, config, metrics, processes)

    async def chat(self, http: Request) -> Response:
        """Parse, check, compile and submit the request, and only then begin the answer."""
        exchange = exchange_of(http.scope)
        request = parse_chat_request(await read_object(http, self._config.body_bytes))
        exchange.model, exchange.stream = request.model or self._name, request.stream
        exchange.route = http.scope["route"].path  # in traces that are part of the answer
        self._check_model(request.model)
        choices = await until_disconnect(http.receive, self._completions.start(request, exchange))
        own = partial(_own, request.own, exchange, choices)
        envelope = Envelope(request.model or self._name)
        if request.stream:
            stream = ChatStream(
                choices,
                envelope,
                exchange,
                own,
                include_usage=request.include_usage,
                ping_seconds=self._config.ping_seconds,
                reader_seconds=self._config.reader_seconds,
            )
            stream.headers.update(_warnings(choices.warnings))
            return stream
        try:
            answers = await until_disconnect(http.receive, choices.answers())
        finally:
            choices.cancel()
        usage = Usage(choices.prompt_tokens, sum(answer.tokens for answer in answers))
        body = envelope.completion(answers, usage, own)
        return JSONResponse(body, headers=_warnings(choices.warnings))

    async def models(self) -> JSONResponse:
        served = [self._name, *self._engine.adapters]
        return JSONResponse({"object": "list", "data": [self._card(name) for name in served]})

    async def model(self, name: str) -> JSONResponse:
        if name != self._name and name not in self._engine.adapters:
            raise _no_such_model(name)
        return JSONResponse(self._card(name))

    async def metrics(self, http: Request) -> Response:
        page, kind = self._metrics.page(http.headers.get("accept", ""))
        return Response(page, headers={"content-type": kind})

    async def health(self) -> JSONResponse:
        if not self._engine.alive:
            raise HttpError(503, "the engine has stopped", code="engine_stopped")
        return JSONResponse({"status": "ok"})

    def _card(self, name: str) -> Json:
        base = None if name == self._name else self._name
        return model_card(name, self._created, self._engine.max_context, base)

    def _check_model(self, name: str | None) -> None:
        """Refuse a name that is not served, if the server has adapters: there the name decides
        which model answers."""
        adapters = self._engine.adapters
        strict = self._config.strict_model or any(adapters)
        if strict and name is not None and name != self._name and name not in adapters:
            raise _no_such_model(name)


def _own(options: OwnOptions, exchange: Exchange, choices: Choices, index: int) -> Json:
    """Return the field `maskwright` of a choice that has ended: the traces that the client asked
    for."""
    engine = exchange.generations[index].trace
    if not options.trace or engine is None:
        return {}
    told: Json = {"trace": RequestTrace(exchange, index, engine).body()}
    if choices.token_traces is not None:
        told["tokens"] = choices.token_traces[index].body()
    return {"maskwright": told}


def _warnings(warnings: Sequence[str]) -> dict[str, str]:
    """Return the header with warnings about names in a schema that resemble keywords: a JSON array
    of strings, bounded in number and length."""
    if not warnings:
        return {}
    told = [text if len(text) <= 200 else f"{text[:199]}…" for text in warnings[:MOST_WARNINGS]]
    return {WARNINGS: json.dumps(told)}


def _no_such_model(name: str) -> HttpError:
    return HttpError(
        404, f"the model {name!r} is not served here", code="model_not_found", param="model"
    )


async def _answer(request: Request, error: Exception) -> Response:
    exchange_of(request.scope).code = code_of(describe(error)[1])
    return error_response(error)


async def _answer_http(request: Request, error: Exception) -> Response:
    """Answer an error of the router: an unknown path or method."""
    assert isinstance(error, HTTPException)
    what = f"{request.method} {request.url.path}"
    match error.status_code:
        case 404:
            told = HttpError(404, f"there is nothing at {what}", code="not_found")
        case 405:
            told = HttpError(405, f"{what} is not allowed", code="method_not_allowed")
        case status:
            told = HttpError(status, str(error.detail))
    exchange_of(request.scope).code = told.code
    response = error_response(told)
    response.headers.update(error.headers or {})
    return response


async def _answer_nobody(request: Request, _: Exception) -> Response:
    exchange_of(request.scope).code = "client_gone"
    return Response(status_code=CLIENT_GONE)
