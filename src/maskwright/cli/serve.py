"""Serve a model over HTTP, in OpenAI's protocol."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import uvicorn
from fastapi import FastAPI

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.arguments import Option
from maskwright.cli.fleet.replicas import serve_replicas
from maskwright.cli.options import (
    BACKEND_HELP,
    CACHE_HELP,
    DEVICE_HELP,
    DTYPE_HELP,
    MODEL_HELP,
    USER_CACHE,
    WHITESPACE_HELP,
    cache_folder,
)
from maskwright.cli.process.collector import collecting
from maskwright.cli.process.draining import DrainingServer
from maskwright.cli.process.listening import listen
from maskwright.cli.process.logs import LogFormat, LogLevel, set_up_logs
from maskwright.cli.process.security import KeySource, TlsFiles, tls_files
from maskwright.dist.drain import Drain
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.engine.schedule.service import ServiceClass
from maskwright.errors import InputError
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.mask import compile_json_schema
from maskwright.mask.compile.json_schema import AdditionalProperties
from maskwright.models import DEMO_PATH, Backend, Dtype, load
from maskwright.processes import AnyGrammar, Build, GrammarProcesses
from maskwright.sampling import SamplingParams
from maskwright.server import ServerConfig, TraceFile, create_app
from maskwright.server.access.keys import ApiKey, KeyRing
from maskwright.server.access_control import check_classes
from maskwright.vocab import Vocabulary

if TYPE_CHECKING:
    from maskwright.server.observe.spans import Spans

ENGINE = EngineConfig()
SERVER = ServerConfig()
SHUTDOWN_SECONDS = 5
"""Time for connections to close at the end, in seconds."""

GRAMMAR_PROCESSES = 1 if sys.platform == "linux" else 0
"""They are forked, and watched by what Linux says of a process."""

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
    model: Annotated[str, Option(help=MODEL_HELP, show_default="the demo model")] = str(DEMO_PATH),
    backend: Annotated[Backend, Option(help=BACKEND_HELP)] = "auto",
    device: Annotated[str, Option(help=DEVICE_HELP)] = "cpu",
    dtype: Annotated[Dtype, Option(help=DTYPE_HELP)] = "auto",
    adapter: Annotated[
        list[str],
        Option(
            help="A LoRA adapter in FOLDER, for requests whose model is NAME. May be repeated.",
            metavar="NAME=FOLDER",
        ),
    ] = [],  # noqa: B006 - read by the parser, never changed
    adapter_bytes: Annotated[
        int,
        Option(
            help="Memory for adapters, in bytes. Where it is full, the least recently used is "
            "dropped."
        ),
    ] = ENGINE.adapter_bytes,
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, Option(least=0, most=65535, help="Port to listen on; with 0 a free one is taken.")
    ] = 8000,
    tls_certificate: Annotated[
        str | None,
        Option(help="File with the server's certificate (PEM), for HTTPS.", metavar="FILE"),
    ] = None,
    tls_key: Annotated[
        str | None, Option(help="File with the private key of the certificate.", metavar="FILE")
    ] = None,
    api_keys: Annotated[
        str | None,
        Option(
            help="File with the keys of clients, as digests, and with their rates and quotas; "
            "'maskwright key' makes entries. It is read again on SIGHUP.",
            metavar="FILE",
        ),
    ] = None,
    api_key: Annotated[
        str | None,
        Option(
            envvar="MASKWRIGHT_API_KEY",
            help="A key that clients must send. Other users of this machine can read options; "
            "they can't read variables.",
            metavar="KEY",
        ),
    ] = None,
    open_metrics: Annotated[
        bool, Option(help="Let everybody read /metrics without a key.")
    ] = SERVER.open_metrics,
    cors_origin: Annotated[
        list[str],
        Option(
            help="Let scripts of web pages from ORIGIN (https://host) use the server; '*' for all. "
            "May be repeated.",
            metavar="ORIGIN",
        ),
    ] = [],  # noqa: B006 - read by the parser, never changed
    body_bytes: Annotated[
        int, Option(help="Most bytes of the body of a request.")
    ] = SERVER.body_bytes,
    drain_seconds: Annotated[
        float,
        Option(
            least=0,
            help="Time that requests may still take after SIGTERM, while new ones are answered "
            "503.",
        ),
    ] = SERVER.drain_seconds,
    name: Annotated[
        str | None, Option(help="Name of the model at /v1/models. Default: its own name.")
    ] = SERVER.model_name,
    strict_model: Annotated[
        bool, Option(help="Refuse requests that name another model.")
    ] = SERVER.strict_model,
    whitespace: Annotated[WhitespaceName, Option(help=WHITESPACE_HELP)] = SERVER.whitespace,
    additional_properties: Annotated[
        AdditionalProperties,
        Option(
            help="Whether objects may have properties of which their schema says nothing: forbid, "
            "or allow as JSON Schema does."
        ),
    ] = SERVER.additional_properties,
    tool_format: Annotated[
        str | None,
        Option(help="How the model writes tool calls. Default: as its chat template shows."),
    ] = SERVER.tool_format,
    replicas: Annotated[
        int,
        Option(
            least=1,
            help="Engines, each in a process of its own, after one address; requests with equal "
            "beginnings go to one of them, and one that ends is replaced.",
        ),
    ] = 1,
    block_size: Annotated[
        int, Option(help="Positions in a block of the key/value pool.")
    ] = ENGINE.block_size,
    kv_bytes: Annotated[
        int, Option(help="Memory for keys and values, in bytes.")
    ] = ENGINE.kv_bytes,
    memory_fraction: Annotated[
        float | None,
        Option(
            help="Share of the machine's memory, between 0 and 1, for weights, workspace, keys and "
            "values together; it replaces --kv-bytes."
        ),
    ] = ENGINE.memory_fraction,
    blocks: Annotated[
        int | None,
        Option(help="Number of blocks of keys and values. Default: what the memory holds."),
    ] = ENGINE.blocks,
    kv_dtype: Annotated[
        KvDtype,
        Option(
            help="Data type of keys and values: 'auto' is the model's own, the others are codes of "
            "eight bits."
        ),
    ] = ENGINE.kv_dtype,
    prefix_cache: Annotated[
        bool, Option(help="Reuse keys and values where prompts begin with the same tokens.")
    ] = ENGINE.prefix_cache,
    swap_bytes: Annotated[
        int,
        Option(help="Host memory for the blocks of preempted requests, in bytes."),
    ] = ENGINE.swap_bytes,
    max_running: Annotated[int, Option(help="Most requests in a step.")] = ENGINE.max_running,
    max_batch_tokens: Annotated[
        int, Option(help="Most tokens in a step; longer prompts are computed in chunks.")
    ] = ENGINE.max_batch_tokens,
    stall: Annotated[
        float | None,
        Option(help="Longest step that computes prompts, in multiples of a step of decodes alone."),
    ] = ENGINE.stall,
    max_waiting: Annotated[
        int, Option(help="Most requests in the queue; further ones are answered 429.")
    ] = ENGINE.max_waiting,
    ttft: Annotated[
        list[str],
        Option(
            help="Objective of a class of service: a request whose first token would take more "
            "than SECONDS is answered 429.",
            metavar="CLASS=SECONDS",
        ),
    ] = [],  # noqa: B006 - read by the parser, never changed
    tpot: Annotated[
        list[str],
        Option(
            help="Objective of a class of service: a request whose further tokens would take more "
            "than SECONDS each is answered 429.",
            metavar="CLASS=SECONDS",
        ),
    ] = [],  # noqa: B006 - read by the parser, never changed
    max_context: Annotated[
        int | None,
        Option(help="Most tokens of prompt and answer together. Default: the model's limit."),
    ] = ENGINE.max_context,
    canonical: Annotated[
        bool,
        Option(help="Write text that the grammar forces without asking the model for it."),
    ] = ENGINE.canonical,
    drafts: Annotated[
        int,
        Option(help="Most drafted tokens of a request in a step; 0 for no drafts."),
    ] = ENGINE.drafts,
    draft_model: Annotated[
        str | None,
        Option(
            help="Folder or hub id of a smaller model that drafts tokens, with the same vocabulary."
        ),
    ] = None,
    overlap: Annotated[
        bool, Option(help="Compute masks and texts while the model computes.")
    ] = ENGINE.overlap,
    reader_tokens: Annotated[
        int, Option(help="Tokens that a reader may be behind before its request is paused.")
    ] = ENGINE.reader_tokens,
    reader_seconds: Annotated[
        float, Option(help="Seconds after which a paused request is ended.")
    ] = ENGINE.reader_seconds,
    grammar_processes: Annotated[
        int,
        Option(
            least=0,
            help="Processes that compute masks, which most grammars share, beside one in which "
            "new grammars begin. With 0 the engine's process does so itself.",
        ),
    ] = GRAMMAR_PROCESSES,
    shape_seconds: Annotated[
        float,
        Option(
            least=0.1,
            help="Most processor time to compile a grammar that has a process of its own, and "
            "for the masks of one answer.",
        ),
    ] = 10.0,
    shape_bytes: Annotated[
        int,
        Option(least=1 << 20, help="Most memory of a grammar that has a process of its own."),
    ] = 512 << 20,
    threads: Annotated[
        int | None,
        Option(
            help="CPU threads of the model. Default: one for a small model, else torch's choice."
        ),
    ] = ENGINE.threads,
    batch_folder: Annotated[
        str | None,
        Option(
            help="Folder for /v1/files and /v1/batches. A batch that was interrupted is continued "
            "from there.",
            metavar="FOLDER",
        ),
    ] = None,
    trace: Annotated[
        str | None,
        Option(help="File to which a trace of each answer is added, as a line of JSON."),
    ] = None,
    trace_requests: Annotated[
        bool,
        Option(
            help="Add requests and tokens to traces, for 'maskwright replay'. They hold the text "
            "of prompts and answers."
        ),
    ] = False,
    otel: Annotated[
        str | None,
        Option(help="Address of an OpenTelemetry collector (OTLP over HTTP) for spans."),
    ] = None,
    log_format: Annotated[
        LogFormat, Option(help="'text' for people, 'json' for machines.")
    ] = "text",
    log_level: Annotated[LogLevel, Option(help="The lowest level that is logged.")] = "info",
    log_prompts: Annotated[
        bool, Option(help="Log the text of prompts; otherwise the log holds no text.")
    ] = SERVER.log_prompts,
    cache: Annotated[str, Option(envvar="MASKWRIGHT_CACHE", help=CACHE_HELP)] = str(USER_CACHE),
) -> None:
    if replicas > 1:
        check_replicated(tls_certificate or tls_key, batch_folder)
        options = replica_options(sys.argv[2:], replicas, memory_fraction)
        serve_replicas(replicas, options, (host, port), body_bytes, drain_seconds, api_key)
        return
    set_up_logs(log_format, log_level)
    sinks, adapters = open_sinks(trace, otel, trace_requests), adapter_folders(adapter)
    tls, key_source = tls_files(tls_certificate, tls_key), KeySource(api_key, api_keys)
    server_config = ServerConfig(
        model_name=name,
        strict_model=strict_model,
        whitespace=whitespace,
        additional_properties=additional_properties,
        tool_format=tool_format,
        reader_seconds=reader_seconds,
        log_prompts=log_prompts,
        body_bytes=body_bytes,
        keys=key_source.ring(),
        open_metrics=open_metrics,
        cors_origins=tuple(cors_origin),
        drain_seconds=drain_seconds,
        batch_folder=None if batch_folder is None else Path(batch_folder),
    )
    read = partial(load, dtype=dtype, device=device, cache=cache_folder(cache))
    loaded = read(model, backend=backend)
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
        draft_model=None if draft_model is None else read(draft_model),
        overlap=overlap,
        reader_tokens=reader_tokens,
        reader_seconds=reader_seconds,
        threads=threads,
        adapter_bytes=adapter_bytes,
    )
    work = partial(grammar_work, loaded.vocab, grammar_processes, shape_seconds, shape_bytes)
    make_engine = partial(Engine, loaded, engine_config, adapters)
    listener = partial(listen, host, port, reader_seconds)
    run_server(make_engine, server_config, work, listener, sinks, key_source, tls)


def run_server(
    make_engine: Callable[[], Engine],
    config: ServerConfig,
    work: Callable[[], AbstractContextManager[GrammarProcesses | None]],
    listener: Callable[[], socket.socket],
    sinks: Sequence[TraceFile | Spans],
    key_source: KeySource,
    tls: TlsFiles | None,
) -> None:
    """Serve until a signal ends it. The socket of `listener` is bound before anything else is
    made, and the grammar processes of `work` are forked before the engine has memory and threads.
    The sinks are closed at the end."""
    with ExitStack() as closing:
        for sink in sinks:
            closing.callback(sink.close)
        listening = closing.enter_context(listener())
        processes = closing.enter_context(work())
        engine = closing.enter_context(make_engine())
        print(f"memory: {engine.capacity.report()}", file=sys.stderr)
        closing.enter_context(collecting(lambda: engine.idle))
        # After `collecting` has frozen what there is: this makes tables of grammars, which are
        # replaced later, and what is frozen would never be freed.
        warm_up(engine, processes)
        drain = Drain(config.drain_seconds)
        web = http_config(create_app(engine, config, sinks, processes, drain), tls)
        reload = reloading(key_source, config.keys, tls, web)
        Announcing(engine, config, web, drain, reload).run([listening])


def replica_options(given: list[str], count: int, memory_fraction: float | None) -> list[str]:
    """The options of one of `count` replicas, which share the memory of the machine."""
    if memory_fraction is None:
        return given
    return [*given, "--memory-fraction", str(memory_fraction / count)]


def check_replicated(tls: str | None, batch_folder: str | None) -> None:
    """Raise InputError for what several replicas can't do yet."""
    if tls is not None:
        raise InputError(
            "--replicas speaks HTTP only; put a proxy with the certificate in front of it",
            param="replicas",
        )
    if batch_folder is not None:
        raise InputError(
            "--replicas has no batches, since replicas can't share a folder; use one server for "
            "--batch-folder",
            param="batch_folder",
        )


def http_config(app: FastAPI, tls: TlsFiles | None) -> uvicorn.Config:
    """The settings of the HTTP server. Host and port are those of its socket."""
    return uvicorn.Config(
        app,
        log_level="warning",
        log_config=None,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )


def reloading(
    source: KeySource, keys: KeyRing | None, tls: TlsFiles | None, web: uvicorn.Config
) -> Callable[[], None] | None:
    """What reads the files of keys and of the certificate again; None if there are none."""
    if source.file is None and tls is None:
        return None

    def reload() -> None:
        if keys is not None:
            keys.replace(checked_keys(source.read()))
        if tls is not None and web.ssl is not None:
            tls.check()
            tls.load_into(web.ssl)

    return reload


def checked_keys(keys: list[ApiKey]) -> list[ApiKey]:
    """The keys, if they may be used. Raises InputError for an unknown class of service."""
    check_classes(keys, (item.name for item in ENGINE.classes))
    return keys


@contextmanager
def grammar_work(
    vocabulary: Vocabulary, count: int, seconds: float, nbytes: int
) -> Generator[GrammarProcesses | None]:
    """`count` shared grammar processes while the block runs, beside the one in which grammars
    begin; None if there are to be none."""
    if count == 0:
        yield None
        return
    processes = GrammarProcesses(vocabulary, count=count, seconds=seconds, nbytes=nbytes)
    try:
        yield processes
    finally:
        processes.close()


def adapter_folders(given: list[str]) -> dict[str, Path]:
    """Folders of adapters by name. Raises InputError for what is no NAME=FOLDER, and for a name
    that is given twice."""
    folders: dict[str, Path] = {}
    for text in given:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise InputError(f"--adapter {text}: NAME=FOLDER is needed", param="adapter")
        if name in folders:
            raise InputError(f"--adapter: {name} is given twice", param="adapter")
        folders[name] = Path(folder)
    return folders


def with_objectives(
    classes: Iterable[ServiceClass], ttft: list[str], tpot: list[str]
) -> tuple[ServiceClass, ...]:
    """The classes with the objectives that are given as CLASS=SECONDS. Raises InputError."""
    by_name = {item.name: item for item in classes}
    for option, given in (("ttft", ttft), ("tpot", tpot)):
        for text in given:
            name, _, number = text.partition("=")
            if name not in by_name:
                raise InputError(
                    f"--{option} {text}: CLASS=SECONDS is needed; classes are {', '.join(by_name)}",
                    param=option,
                )
            try:
                by_name[name] = replace(by_name[name], **{option: float(number)})
            except ValueError:
                raise InputError(
                    f"--{option} {text}: {number!r} is no number of seconds", param=option
                ) from None
    return tuple(by_name.values())


def open_sinks(
    trace: str | None, otel: str | None, requests: bool = False
) -> list[TraceFile | Spans]:
    """The places to which traces are sent; `requests`: the file gets whole requests. Raises
    InputError for a place that can't be opened."""
    if requests and trace is None:
        raise InputError("--trace-requests needs --trace FILE", param="trace_requests")
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
        sinks.append(TraceFile(trace, requests=requests))
    return sinks


def warm_up(engine: Engine, processes: GrammarProcesses | None = None) -> None:
    """Generate one short answer, so that the first client doesn't wait for what is compiled or read
    only once. If the context has no room for it, nothing is generated."""
    grammar: AnyGrammar
    if processes is None:
        grammar = compile_json_schema(SCHEMA, engine.loaded.vocab)
    else:
        grammar = processes.compile(Build(compile_json_schema, (SCHEMA,), {})).result()
    prompt = engine.loaded.vocab.encode(b"{")
    tokens = min(2 * grammar.min_tokens, engine.max_context - len(prompt))
    if tokens >= grammar.min_tokens:
        engine.submit(
            Request(prompt, SamplingParams(), max_tokens=tokens, grammar=grammar)
        ).result()


class Announcing(DrainingServer):
    """A server that prints when it is ready, and how to try it."""

    def __init__(
        self,
        engine: Engine,
        settings: ServerConfig,
        config: uvicorn.Config,
        drain: Drain,
        reload: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config, drain, engine.stop, reload)
        self._model = settings.model_name or engine.loaded.name
        self._keyed = settings.keys is not None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = (sockets or self.servers[0].sockets)[0].getsockname()[:2]
        scheme = "https" if self.config.is_ssl else "http"
        address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        print(greeting(self._model, address, keyed=self._keyed), flush=True)


def greeting(model: str, url: str, *, keyed: bool = False) -> str:
    """What is printed at the start: that the server is ready, and a command that tries it. `keyed`:
    it needs a key."""
    body = json.dumps({"model": model, **EXAMPLE})
    key = '-H "Authorization: Bearer $MASKWRIGHT_API_KEY" ' if keyed else ""
    return (
        f"maskwright is ready: {model} at {url}/v1\n\nTry it:\n\n"
        f"curl -s {url}/v1/chat/completions {key}-H 'Content-Type: application/json' -d '{body}'\n"
    )
