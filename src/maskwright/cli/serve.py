"""Serve a model over HTTP, in OpenAI's protocol."""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import uvicorn

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.cache import USER_CACHE, cache_folder
from maskwright.cli.collector import collecting
from maskwright.cli.logs import LogFormat, LogLevel, set_up_logs
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.engine.schedule.service import ServiceClass
from maskwright.errors import AddressError, InputError
from maskwright.kernels.kv_pool import KvDtype
from maskwright.mask import compile_json_schema
from maskwright.models import DEMO_PATH, Backend, load
from maskwright.sampling import SamplingParams
from maskwright.server import ServerConfig, TraceFile, create_app

if TYPE_CHECKING:
    from maskwright.server.observe.spans import Spans

ENGINE = EngineConfig()
SERVER = ServerConfig()
SHUTDOWN_SECONDS = 5

SEND_BYTES = 1 << 17
"""Sent and not yet taken, on one connection; about a thousand events of a stream."""

MOST_PATIENCE = (1 << 31) - 1
"""Milliseconds that the system can be told to wait for a client."""

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "city": {"type": "string"},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}
EXAMPLE = {
    "messages": [{"role": "user", "content": "Anna Berg, 34, lives in Oslo."}],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "person", "schema": SCHEMA},
    },
    "temperature": 0,
}


def serve(
    model: Annotated[
        str, typer.Option(help="Checkpoint folder, or hub id. Default: the demo model that ships.")
    ] = str(DEMO_PATH),
    backend: Annotated[
        Backend,
        typer.Option(help="What computes the model; 'auto': the dense decoder where it can."),
    ] = "auto",
    adapter: Annotated[
        list[str],
        typer.Option(
            help="NAME=FOLDER of a LoRA adapter, for requests whose model is NAME. Repeatable.",
            metavar="NAME=FOLDER",
        ),
    ] = [],  # noqa: B006 - typer reads it
    adapter_bytes: Annotated[
        int, typer.Option(help="Memory for adapters; those used longest ago are given up.")
    ] = ENGINE.adapter_bytes,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    name: Annotated[
        str | None, typer.Option(help="The model's name at /v1/models. Default: its own.")
    ] = SERVER.model_name,
    strict_model: Annotated[
        bool, typer.Option(help="Refuse requests that name another model.")
    ] = SERVER.strict_model,
    whitespace: Annotated[
        WhitespaceName,
        typer.Option(help="White space in JSON answers; 'flexible': any."),
    ] = SERVER.whitespace,
    tool_format: Annotated[
        str | None,
        typer.Option(help="How the model writes tool calls. Default: by its chat template."),
    ] = SERVER.tool_format,
    block_size: Annotated[
        int, typer.Option(help="Positions in a block of the key/value pool.")
    ] = ENGINE.block_size,
    kv_bytes: Annotated[
        int, typer.Option(help="Memory of the key/value pool, in bytes.")
    ] = ENGINE.kv_bytes,
    memory_fraction: Annotated[
        float | None,
        typer.Option(help="Give the pool what weights and workspace leave of this part of memory."),
    ] = ENGINE.memory_fraction,
    blocks: Annotated[
        int | None, typer.Option(help="Number of blocks. Default: as many as the memory holds.")
    ] = ENGINE.blocks,
    kv_dtype: Annotated[
        KvDtype,
        typer.Option(help="Keys and values: the model's data type, or codes of eight bits."),
    ] = ENGINE.kv_dtype,
    prefix_cache: Annotated[
        bool, typer.Option(help="Keep computed prompts for those that begin alike.")
    ] = ENGINE.prefix_cache,
    swap_bytes: Annotated[
        int, typer.Option(help="Host memory for the blocks of requests that gave way to others.")
    ] = ENGINE.swap_bytes,
    max_running: Annotated[
        int, typer.Option(help="Requests computed together.")
    ] = ENGINE.max_running,
    max_batch_tokens: Annotated[
        int, typer.Option(help="Tokens computed in a step; longer prompts go in chunks.")
    ] = ENGINE.max_batch_tokens,
    stall: Annotated[
        float | None,
        typer.Option(help="Times longer that a step with prompts may take than one without."),
    ] = ENGINE.stall,
    max_waiting: Annotated[
        int, typer.Option(help="Requests in the queue; one more is answered 429.")
    ] = ENGINE.max_waiting,
    ttft: Annotated[
        list[str],
        typer.Option(
            help="CLASS=SECONDS: a request whose first token would take longer is answered 429.",
            metavar="CLASS=SECONDS",
        ),
    ] = [],  # noqa: B006 - typer reads it
    tpot: Annotated[
        list[str],
        typer.Option(
            help="CLASS=SECONDS: a request whose further tokens would take longer is answered 429.",
            metavar="CLASS=SECONDS",
        ),
    ] = [],  # noqa: B006 - typer reads it
    max_context: Annotated[
        int | None, typer.Option(help="Tokens of prompt and answer. Default: the model's.")
    ] = ENGINE.max_context,
    canonical: Annotated[
        bool, typer.Option(help="Write text that a schema leaves no choice about unasked.")
    ] = ENGINE.canonical,
    drafts: Annotated[
        int, typer.Option(help="Most guesses a step for each answer; 0 for none.")
    ] = ENGINE.drafts,
    draft_model: Annotated[
        str | None,
        typer.Option(help="Folder, or hub id, of a smaller model with the same tokens, to guess."),
    ] = None,
    overlap: Annotated[
        bool, typer.Option(help="Make masks and texts beside the forward.")
    ] = ENGINE.overlap,
    reader_tokens: Annotated[
        int, typer.Option(help="Tokens that a stream's reader may be behind before it pauses.")
    ] = ENGINE.reader_tokens,
    reader_seconds: Annotated[
        float, typer.Option(help="Seconds that a stream may pause before it is cut off.")
    ] = ENGINE.reader_seconds,
    threads: Annotated[
        int | None, typer.Option(help="CPU threads of the model. Default: the library's choice.")
    ] = ENGINE.threads,
    trace: Annotated[
        str | None, typer.Option(help="File to which a JSON line is added for each answer.")
    ] = None,
    otel: Annotated[
        str | None,
        typer.Option(help="Address of an OpenTelemetry collector (OTLP over HTTP) for spans."),
    ] = None,
    log_format: Annotated[LogFormat, typer.Option(help="How the log is written.")] = "text",
    log_level: Annotated[LogLevel, typer.Option(help="What the log holds at least.")] = "info",
    log_prompts: Annotated[
        bool, typer.Option(help="Write prompts into the log, which otherwise holds no text.")
    ] = SERVER.log_prompts,
    cache: Annotated[
        str,
        typer.Option(
            envvar="MASKWRIGHT_CACHE",
            help="Folder that keeps what is computed once a vocabulary; 'off': nothing is kept.",
        ),
    ] = str(USER_CACHE),
) -> None:
    set_up_logs(log_format, log_level)
    sinks = open_sinks(trace, otel)
    adapters = adapter_folders(adapter)
    folder = cache_folder(cache)
    loaded = load(model, backend=backend, cache=folder)
    engine_config = EngineConfig(
        block_size=block_size,
        kv_bytes=kv_bytes,
        memory_fraction=memory_fraction,
        blocks=blocks,
        kv_dtype=kv_dtype,
        prefix_cache=prefix_cache,
        swap_bytes=swap_bytes,
        max_running=max_running,
        max_batch_tokens=max_batch_tokens,
        stall=stall,
        max_waiting=max_waiting,
        max_context=max_context,
        classes=with_objectives(ENGINE.classes, ttft, tpot),
        canonical=canonical,
        drafts=drafts,
        draft_model=None if draft_model is None else load(draft_model, cache=folder),
        overlap=overlap,
        reader_tokens=reader_tokens,
        reader_seconds=reader_seconds,
        threads=threads,
        adapter_bytes=adapter_bytes,
    )
    server_config = ServerConfig(
        model_name=name,
        strict_model=strict_model,
        whitespace=whitespace,
        tool_format=tool_format,
        reader_seconds=reader_seconds,
        log_prompts=log_prompts,
    )
    with ExitStack() as closing:
        for sink in sinks:
            closing.callback(sink.close)
        listening = closing.enter_context(listen(host, port, reader_seconds))
        engine = closing.enter_context(Engine(loaded, engine_config, adapters))
        typer.echo(f"memory: {engine.capacity.report()}", err=True)
        closing.enter_context(collecting(lambda: engine.idle))
        warm_up(engine)  # behind it: tables of grammars are replaced, and must not stay for good
        app = create_app(engine, server_config, sinks)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_level="warning",
            log_config=None,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        Announcing(config, name or loaded.name).run([listening])


def adapter_folders(given: list[str]) -> dict[str, Path]:
    """Folders by name. Raises InputError for what is no NAME=FOLDER, and a name given twice."""
    folders: dict[str, Path] = {}
    for text in given:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise InputError(f"--adapter {text}: NAME=FOLDER is needed", param="adapter")
        if name in folders:
            raise InputError(f"--adapter: {name} is there twice", param="adapter")
        folders[name] = Path(folder)
    return folders


def with_objectives(
    classes: Iterable[ServiceClass], ttft: list[str], tpot: list[str]
) -> tuple[ServiceClass, ...]:
    """The classes with the objectives that are given as CLASS=SECONDS. Raises InputError."""
    found = {item.name: item for item in classes}
    for option, given in (("ttft", ttft), ("tpot", tpot)):
        for text in given:
            name, _, number = text.partition("=")
            if name not in found:
                raise InputError(
                    f"--{option} {text}: CLASS=SECONDS is needed; classes are {', '.join(found)}",
                    param=option,
                )
            try:
                found[name] = replace(found[name], **{option: float(number)})
            except ValueError:
                raise InputError(
                    f"--{option} {text}: {number!r} is no number of seconds", param=option
                ) from None
    return tuple(found.values())


def open_sinks(trace: str | None, otel: str | None) -> list[TraceFile | Spans]:
    """Where traces go. Raises InputError for what can't be had."""
    sinks: list[TraceFile | Spans] = []
    if otel is not None:
        if not otel.startswith(("http://", "https://")):
            raise InputError(
                f"--otel {otel}: an address that begins with http:// or https:// is needed",
                param="otel",
            )
        try:
            from maskwright.server.observe.spans import Spans  # noqa: PLC0415 - the extra may be missing
        except ModuleNotFoundError as error:
            raise InputError(
                f"--otel needs {error.name}, which is not installed; "
                "pip install 'maskwright[otel]' brings it",
                param="otel",
            ) from None
        sinks.append(Spans.sent_to(otel))
    if trace is not None:
        sinks.append(TraceFile(trace))
    return sinks


def listen(host: str, port: int, reader_seconds: float = SERVER.reader_seconds) -> socket.socket:
    """The server's socket, bound before the engine starts. Its connections are given up when a
    client takes nothing for so long, and hold little that it has not taken: a slow reader is felt
    in the engine, which pauses its request, instead of filling megabytes of the kernel's buffers.

    Raises AddressError.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
            patience = int(min(max(1.0, reader_seconds * 1000), MOST_PATIENCE))
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience)
            found.bind(address)
        except OSError:
            found.close()
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        way_out = "; --port 0 takes a free one" if error.errno == errno.EADDRINUSE else ""
        raise AddressError(f"can't listen on {host} port {port}: {reason}{way_out}") from None
    return found


def warm_up(engine: Engine) -> None:
    """One short answer, so that nothing is compiled or read at the cost of the first client; none
    where the context has no room for it."""
    grammar = compile_json_schema(SCHEMA, engine.loaded.vocab)
    prompt = engine.loaded.vocab.encode(b"{")
    tokens = min(2 * grammar.min_tokens, engine.max_context - len(prompt))
    if tokens >= grammar.min_tokens:
        engine.submit(
            Request(prompt, SamplingParams(), max_tokens=tokens, grammar=grammar)
        ).result()


class Announcing(uvicorn.Server):
    """Says when it is ready, and how to try it."""

    def __init__(self, config: uvicorn.Config, model: str) -> None:
        super().__init__(config)
        self._model = model

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = (sockets or self.servers[0].sockets)[0].getsockname()[:2]
        typer.echo(greeting(self._model, f"http://{f'[{host}]' if ':' in host else host}:{port}"))


def greeting(model: str, url: str) -> str:
    """The words at the start: that it is ready, and a line to paste."""
    body = json.dumps({"model": model, **EXAMPLE})
    return (
        f"maskwright is ready: {model} at {url}/v1\n\nTry it:\n\n"
        f"curl -s {url}/v1/chat/completions -H 'Content-Type: application/json' -d '{body}'\n"
    )
