"""The endpoints that generate answers. They differ in how a request is read and how its answers
are written; what lies between is common to all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec import field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from maskwright.dist.front.relay import RELAY
from maskwright.engine import Engine
from maskwright.immutable import Immutable
from maskwright.server.access_control import PromptAdmission
from maskwright.server.answer.answers import Answering, Envelope
from maskwright.server.answer.anthropic_writer import AnthropicWriter
from maskwright.server.answer.choices import Choices
from maskwright.server.answer.completion_writers import ChatWriter, TextWriter
from maskwright.server.answer.response_writer import ResponseWriter
from maskwright.server.answer.streaming import AnswerWriter, EventStream
from maskwright.server.config import Identity, ServerConfig
from maskwright.server.errors import HttpError
from maskwright.server.exchange import Exchange, exchange_of
from maskwright.server.guarantees.records import Records
from maskwright.server.handoff import OutgoingBlocks
from maskwright.server.json import Json
from maskwright.server.observe.traces import RequestTrace
from maskwright.server.request.answer_request import AnswerRequest, OwnOptions
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.body import read_as
from maskwright.server.request.completion_requests import ChatCompletionRequest, CompletionRequest
from maskwright.server.request.response_request import ResponseRequest
from maskwright.server.request.sampling_fields import GeneratingRequest
from maskwright.server.route import Handler, until_disconnect
from maskwright.server.starter import Starter
from maskwright.server.stream import Pace

WARNINGS: Final = "x-maskwright-warnings"
MOST_WARNINGS: Final = 10
LONGEST_WARNING: Final = 240


MakeWriter: TypeAlias = Callable[[Answering], AnswerWriter]


class GenerationRoutes(Immutable):
    """The endpoints of one engine that generate answers. `name`: the model's name. `records`: keeps
    how tokens were chosen, for requests that ask for it."""

    engine: Engine
    config: ServerConfig
    starter: Starter
    admission: PromptAdmission
    records: Records
    name: str
    identity: Identity
    pace: Pace = field(default_factory=Pace)

    def __repr__(self) -> str:
        """Without its configuration, which has a secret key: endpoints may be logged."""
        return f"{type(self).__name__}({self.name!r})"

    @property
    def outgoing(self) -> OutgoingBlocks | None:
        """What hands requests over; None for a server that hands nothing over."""
        key = self.config.handoff_key
        return None if key is None else OutgoingBlocks(self.engine, key)

    def endpoints(self) -> dict[str, Handler]:
        """Return what answers POST, by path."""
        rows: tuple[tuple[str, type[GeneratingRequest], str, MakeWriter], ...] = (
            ("/chat/completions", ChatCompletionRequest, "chatcmpl-", ChatWriter),
            ("/completions", CompletionRequest, "cmpl-", TextWriter),
            ("/responses", ResponseRequest, "resp_", ResponseWriter),
            ("/messages", AnthropicRequest, "msg_", AnthropicWriter),
        )
        return {path: partial(self._answer, model, id, make) for path, model, id, make in rows}

    async def _read(self, http: Request, model: type[GeneratingRequest]) -> AnswerRequest:
        """Return what the body asks for, which the record of the request keeps."""
        exchange = exchange_of(http.scope)
        admit = partial(self.admission.check, place=model.PLACE, allowance=exchange.allowance)

        def parse(tree: Json) -> AnswerRequest:
            exchange.body, exchange.served_by = tree, self.identity
            exchange.relayed = RELAY in http.headers
            exchange.hand_to = None if self.outgoing is None else self.outgoing.target(http)
            return model.parse(tree)

        return await read_as(http, self.config.body_bytes, parse, admit)

    async def _answer(
        self, model: type[GeneratingRequest], prefix: str, make: MakeWriter, http: Request
    ) -> Response:
        """Check, compile and submit the request, and only then begin the answer. `model`: that of
        its body; `prefix`: that of the answer's id; `make`: makes the writer of the answer."""
        request = await self._read(http, model)
        exchange, reply = exchange_of(http.scope), request.reply
        exchange.model, exchange.stream = request.model or self.name, reply.stream
        exchange.route = http.scope["route"].path  # in traces that are part of the answer
        if request.model is not None:
            strict = self.config.strict_model
            check_model(request.model, self.name, self.engine.adapters, strict=strict)
        continuation = request.options.own.continuation
        if continuation is not None:
            exchange.naming = continuation.naming
        naming = exchange.naming
        choices = await until_disconnect(http.receive, self.starter.start(request, exchange))
        if self.outgoing is not None and exchange.hand_to is not None:
            work = self.outgoing.hand_over(choices, exchange, exchange.hand_to)
            return await _handed_over(http, choices, work)
        id = naming.answer_id(prefix, reply.id)
        own = partial(self._own, request.options.own, exchange, choices, id)
        served = request.model or self.name, self.identity.fingerprint
        envelope = Envelope(*served, id, naming.created)
        vocab = self.engine.loaded.vocab
        writer = make(Answering(request, choices, naming, envelope, own, vocab))
        headers = _warnings(choices.warnings)
        if reply.stream:
            stream = EventStream(
                choices,
                writer,
                exchange,
                ping_seconds=self.config.ping_seconds,
                reader_seconds=self.config.reader_seconds,
                pace=self.pace,
                continuation=continuation,
            )
            stream.headers.update(headers)
            return stream
        try:
            answers = await until_disconnect(http.receive, choices.answers())
        finally:
            choices.cancel()
        return JSONResponse(writer.whole(answers, choices.usage()), headers=headers)

    def _own(
        self, options: OwnOptions, exchange: Exchange, choices: Choices, id: str, index: int
    ) -> Json:
        """Return the field `maskwright` of a choice that has ended: the traces and the report that
        the client asked for. What is to be explained later is kept."""
        engine, report = exchange.generations[index].trace, choices.reports[index]
        traces = choices.token_traces
        if options.explain and traces is not None:
            self.records.keep(exchange.key, id, index, traces[index].scores)
        own: Json = {}
        if options.trace and engine is not None:
            own["trace"] = RequestTrace(exchange, index, engine).body()
            if options.trace_tokens and traces is not None:
                own["tokens"] = traces[index].body()
        if report is not None:
            own["report"] = report
        return {"maskwright": own} if own else {}


async def _handed_over(
    http: Request, choices: Choices, work: Coroutine[Any, Any, Json]
) -> Response:
    """Have another server go on with a request, and answer what the router must tell it."""
    try:
        return JSONResponse(await until_disconnect(http.receive, work))
    finally:
        choices.cancel()


def _warnings(warnings: Sequence[str]) -> dict[str, str]:
    """Return the header with what in a shape demands less than it seems to: a JSON array of
    strings, bounded in number and length."""
    if not warnings:
        return {}
    most = LONGEST_WARNING
    shortened = [t if len(t) <= most else f"{t[: most - 1]}…" for t in warnings[:MOST_WARNINGS]]
    return {WARNINGS: json.dumps(shortened)}


def check_model(name: str, served: str, adapters: Iterable[str], *, strict: bool) -> None:
    """Raise HttpError for a name that is not served, if the server is strict or has adapters: there
    the name decides which model answers. Otherwise the served model answers to every name."""
    names = tuple(adapters)
    if (strict or names) and name != served and name not in names:
        raise HttpError(
            404, f"the model {name!r} is not served here", code="model_not_found", param="model"
        )
