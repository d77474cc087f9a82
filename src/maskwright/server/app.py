"""The HTTP application: its routes, and how errors are answered."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import Lifespan

from maskwright.dist.drain import Drain
from maskwright.dist.handoff.http_names import BLOCKS_PATH, LACKING_PATH
from maskwright.dist.routing.replica_state import CACHED_SECONDS, KV_STORE
from maskwright.engine import Engine
from maskwright.errors import InputError, MaskwrightError
from maskwright.processes import GrammarProcesses
from maskwright.server.access import check_classes
from maskwright.server.access_control import AccessControl, PromptAdmission
from maskwright.server.answer.answers import model_card
from maskwright.server.batches.batch_routes import Batching, batch_endpoints
from maskwright.server.config import ServerConfig, identity_of
from maskwright.server.errors import HttpError, code_of, describe, error_response
from maskwright.server.exchange import exchange_of
from maskwright.server.generation_routes import GenerationRoutes, check_model
from maskwright.server.guarantees.explain_route import ExplainRoute
from maskwright.server.guarantees.records import Records
from maskwright.server.handoff import IncomingBlocks
from maskwright.server.json import Json
from maskwright.server.middleware import Exchanges, Observer, Pages
from maskwright.server.observe.metrics import Metrics
from maskwright.server.observe.state_route import StateRoute
from maskwright.server.observe.traces import TraceSink
from maskwright.server.openapi.document import add_document
from maskwright.server.pages import add_pages
from maskwright.server.prompts import PromptReader
from maskwright.server.recipes import Recipes, tool_format_of
from maskwright.server.route import ClientGoneError, Endpoint, Handler
from maskwright.server.shapes import Inquirer, ShapeRoutes
from maskwright.server.starter import Starter
from maskwright.server.token_routes import TokenRoutes
from maskwright.version import VERSION

# Nginx's status for a request whose client has disconnected. Only logs and metrics show it.
CLIENT_GONE = 499

EXPOSED_HEADERS = (
    "retry-after",
    "x-request-id",
    "x-maskwright-warnings",
    *(f"x-ratelimit-{what}-{unit}" for what in ("limit", "remaining", "reset")
      for unit in ("requests", "tokens")),
)  # fmt: skip
"""Headers of responses that scripts of web pages may read."""


def create_app(
    engine: Engine,
    config: ServerConfig | None = None,
    sinks: Sequence[TraceSink] = (),
    processes: GrammarProcesses | None = None,
    drain: Drain | None = None,
) -> Starlette:
    """Return the application for a started engine, which the caller has to stop. `sinks` get the
    trace of every choice. Grammars are compiled and followed in `processes`, or else in this
    process. Once the caller begins `drain`, no further request is let in."""
    config = config or ServerConfig()
    drain = drain or Drain(config.drain_seconds)
    check_classes(config.keys, engine.config.classes)
    name = _name(engine, config)
    tool_format = config.tool_format or tool_format_of(engine.loaded.chat_template)
    identity = identity_of(engine, config, tool_format)
    metrics = Metrics(engine, name, processes, identity)
    prompts = PromptReader(engine, config.chat_template_kwargs, logged=config.log_prompts)
    recipes = Recipes(config.whitespace, tool_format, config.additional_properties, config.numbers)
    starter = Starter(engine, config, recipes, metrics, prompts, processes)
    tokens = TokenRoutes(engine, prompts, config.body_bytes)
    vocab, records = engine.loaded.vocab, Records(engine.loaded.vocab)
    inquirer = Inquirer(vocab, processes)
    explain = ExplainRoute(vocab, recipes, records, inquirer, config.body_bytes)
    shapes = ShapeRoutes(recipes, inquirer, config.body_bytes)
    routes = Routes(engine, metrics, name, drain, strict=config.strict_model)
    state = StateRoute(engine, metrics, name)
    admission = PromptAdmission(engine, metrics)
    generation = GenerationRoutes(engine, config, starter, admission, records, name, identity)
    folder = config.batch_folder
    batching = None if folder is None else Batching(folder, config, engine.config)
    app = Starlette(lifespan=_lifespan(state, batching))
    app.router.redirect_slashes = False
    rows: list[tuple[str, str, Handler]] = [
        *(("POST", path, answer) for path, answer in generation.endpoints().items()),
        ("POST", "/tokenize", tokens.tokenize),
        ("POST", "/detokenize", tokens.detokenize),
        ("POST", "/responses/input_tokens", tokens.response_input),
        ("POST", "/messages/count_tokens", tokens.anthropic_input),
        ("POST", "/explain", explain.explain),
        ("POST", "/check", shapes.check),
        ("POST", "/draw", shapes.draw),
        ("POST", "/sample", shapes.sample),
        ("GET", "/examples", shapes.examples),
        *batch_endpoints(batching),
        ("GET", "/models", routes.models),
        ("GET", "/models/{name:path}", routes.model),
        ("GET", "/metrics", routes.metrics),
        ("GET", "/state", state.state),
        ("GET", "/version", routes.version),
        ("GET", "/load", routes.load),
        ("GET POST", "/ping", routes.ping),
        ("GET HEAD", "/health", routes.health),
        ("GET HEAD", "/live", routes.health),
        ("GET HEAD", "/ready", routes.ready),
    ]
    for prefix in ("/v1", ""):
        app.routes.extend(
            Endpoint(prefix + path, answer, methods.split()) for methods, path, answer in rows
        )
    if config.handoff_key is not None:
        incoming = IncomingBlocks(engine, config.handoff_key)
        app.routes.append(Endpoint(LACKING_PATH, incoming.lacking, ["POST"]))
        app.routes.append(Endpoint(BLOCKS_PATH, incoming.blocks, ["POST"]))
    _add_exception_handlers(app)
    app.state.identity = identity
    pages = add_pages(app) | {add_document(app, config)}
    _add_middleware(app, config, drain, metrics, (*sinks, state.recent), pages)
    return app


def _lifespan(state: StateRoute, batching: Batching | None) -> Lifespan[Starlette]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(state.history.kept())
            if batching is not None:
                await stack.enter_async_context(batching.lifespan(app))
            yield

    return lifespan


def _add_exception_handlers(app: Starlette) -> None:
    """Add the answers to exceptions that are expected; `Exchanges` answers all others."""
    app.add_exception_handler(MaskwrightError, _answer)
    app.add_exception_handler(HttpError, _answer)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(ClientGoneError, _answer_nobody)


def _add_middleware(
    app: Starlette,
    config: ServerConfig,
    drain: Drain,
    metrics: Metrics,
    sinks: Sequence[TraceSink],
    pages: frozenset[str],
) -> None:
    """Add what every request passes through. The last one added is the outermost. `pages`: the
    paths of what has no data, which need no key."""
    app.add_middleware(
        AccessControl,
        keys=config.keys,
        drain=drain,
        metrics=metrics,
        open_metrics=config.open_metrics,
        pages=pages,
    )
    app.add_middleware(Exchanges, observer=Observer(metrics, sinks))
    if config.cors_origins:
        app.add_middleware(
            Pages,
            allow_origins=config.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=EXPOSED_HEADERS,
        )


class Routes:
    """The endpoints that describe one engine. `name`: the model's name."""

    def __init__(
        self, engine: Engine, metrics: Metrics, name: str, drain: Drain, *, strict: bool
    ) -> None:
        """`strict`: other models' names are refused."""
        self._engine = engine
        self._strict = strict
        self._drain = drain
        self._name = name
        self._created = int(time.time())
        self._metrics = metrics

    async def models(self, _: Request) -> JSONResponse:
        served = [self._name, *self._engine.adapters]
        return JSONResponse({"object": "list", "data": [self._card(name) for name in served]})

    async def model(self, http: Request) -> JSONResponse:
        name = http.path_params["name"]
        strict = self._strict or not name
        check_model(name, self._name, self._engine.adapters, strict=strict)
        return JSONResponse(self._card(name))

    async def metrics(self, http: Request) -> Response:
        page, kind = self._metrics.page(http.headers.get("accept", ""))
        return Response(page, headers={"content-type": kind})

    async def version(self, _: Request) -> JSONResponse:
        return JSONResponse({"version": VERSION})

    async def load(self, _: Request) -> JSONResponse:
        """Return how many requests run or wait."""
        stats = self._engine.stats()
        return JSONResponse({"server_load": stats.running + stats.waiting})

    async def ping(self, _: Request) -> Response:
        """Return an empty body if the engine runs."""
        self._check_alive()
        return Response()

    async def health(self, _: Request) -> JSONResponse:
        self._check_alive()
        return JSONResponse({"status": "ok"})

    async def ready(self, _: Request) -> JSONResponse:
        """Return whether new requests are let in: not once a drain has begun."""
        self._check_alive()
        if self._drain.begun:
            raise HttpError(503, "the server is being stopped", code="draining")
        seconds = self._engine.cached_seconds()
        headers = {} if seconds is None else {CACHED_SECONDS: f"{seconds:.3f}"}
        if (store := self._engine.shared_store()) is not None:
            name, kept = store
            headers[KV_STORE] = name if kept is None else f"{name} {kept:.3f}"
        return JSONResponse({"status": "ready"}, headers=headers)

    def _check_alive(self) -> None:
        if not self._engine.alive:
            raise HttpError(503, "the engine has stopped", code="engine_stopped")

    def _card(self, name: str) -> Json:
        base = None if name == self._name else self._name
        return model_card(name, self._created, self._engine.max_context, base)


def _name(engine: Engine, config: ServerConfig) -> str:
    """Return the name of the model. Raises InputError if an adapter has it."""
    name = config.model_name or engine.loaded.name
    if name in engine.adapters:
        raise InputError(
            f"an adapter and the model are both named {name}; --name gives the model another",
            param="adapter",
        )
    return name


async def _answer(request: Request, error: Exception) -> Response:
    exchange_of(request.scope).code = code_of(describe(error)[1])
    return error_response(error, request.url.path)


async def _answer_http(request: Request, error: Exception) -> Response:
    """Answer an error of the router: an unknown path or method."""
    assert isinstance(error, HTTPException)
    what = f"{request.method} {request.url.path}"
    match error.status_code:
        case 404:
            answer = HttpError(404, f"there is nothing at {what}", code="not_found")
        case 405:
            answer = HttpError(405, f"{what} is not allowed", code="method_not_allowed")
        case status:
            answer = HttpError(status, str(error.detail))
    exchange_of(request.scope).code = answer.code
    response = error_response(answer, request.url.path)
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["allow"] = ", ".join(sorted(_methods(request)))
    return response


def _methods(request: Request) -> set[str]:
    """Return all methods that a path answers. The router's own error knows only the methods of the
    first endpoint that has the path."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    found = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return {method for route in found for method in route.methods or ()}


async def _answer_nobody(request: Request, _: Exception) -> Response:
    exchange_of(request.scope).code = "client_gone"
    return Response(status_code=CLIENT_GONE)
