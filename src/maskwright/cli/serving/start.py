"""Starts the engine and the HTTP server of `serve`, with a first answer, and greets with what shows
how to ask for one. Imports torch, so that options are checked before this module is imported.
"""

from __future__ import annotations

import gc
import json
import logging
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import uvicorn

from maskwright.cli.output.progress import progress
from maskwright.cli.process.collector import collecting
from maskwright.cli.process.draining import DrainingServer, http_config
from maskwright.cli.process.environment import set_defaults
from maskwright.cli.process.listening import TlsFiles
from maskwright.cli.process.logs import set_up_logs
from maskwright.cli.serving.serve import ServeOptions
from maskwright.dist.drain import Drain
from maskwright.engine import Engine, Request
from maskwright.mask import CompiledGrammar, compile_json_schema
from maskwright.models import load
from maskwright.processes import Build, GrammarProcesses, Nursery
from maskwright.sampling import SamplingParams
from maskwright.server import create_app
from maskwright.server.access import KeyRing, check_classes
from maskwright.server.observe.traces import TraceFile
from maskwright.vocab import Vocabulary

if TYPE_CHECKING:
    from maskwright.server.observe.spans import Spans


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
    "response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}},
    "temperature": 0,
}


def warm_up(engine: Engine, processes: GrammarProcesses | None = None) -> None:
    """Generate one short answer, so that the first client doesn't wait for what is compiled or read
    only once. If the context has no room for it, nothing is generated."""
    grammar: CompiledGrammar
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


def greeting(model: str, url: str, *, keyed: bool = False) -> str:
    """What is printed at the start: that the server is ready, and a command that tries it. `keyed`:
    it needs a key."""
    body = json.dumps({"model": model, **EXAMPLE})
    key = '-H "Authorization: Bearer $MASKWRIGHT_API_KEY" ' if keyed else ""
    return (
        f"maskwright is ready: {model} at {url}/v1\n\nTry it:\n\n"
        f"curl -s {url}/v1/chat/completions {key}-H 'Content-Type: application/json' -d '{body}'\n"
    )


_log = logging.getLogger(__name__)


def start(
    options: ServeOptions,
    tls: TlsFiles | None,
    sinks: list[TraceFile | Spans],
    listening: socket.socket,
    nursery: Nursery | None,
) -> None:
    """Serve at a bound socket until a signal ends it. The sinks of traces are closed at the end.
    `nursery`: from which grammar processes are forked."""
    gc.freeze()  # what was imported stays, and a collection that looks at it takes 0.3 s
    set_up_logs(options.log_format, options.log_level)
    if options.log_format == "json":  # no bars of libraries, which are imported from here on
        set_defaults({"HF_HUB_DISABLE_PROGRESS_BARS": "1"})
    chosen, config, server = options.chosen, options.engine, options.server
    with ExitStack() as at_end:
        for sink in sinks:
            at_end.callback(sink.close)
        read = partial(load, dtype=chosen.dtype, device=chosen.device, cache=chosen.cache_folder)
        with progress("loading the model"):  # ends before processes are forked
            loaded = read(chosen.model, backend=chosen.backend, weight_dtype=chosen.weight_dtype)
            if chosen.draft_model is not None:
                config = replace(config, draft_model=read(chosen.draft_model))
        # The grammar processes are forked before the engine has memory and threads.
        work = options.work.grammar_processes, options.work.shape_seconds, options.work.shape_bytes
        processes = at_end.enter_context(grammar_work(loaded.vocab, *work, nursery))
        engine = at_end.enter_context(Engine(loaded, config, chosen.adapters))
        _log.info("memory: %s", engine.capacity.report())
        at_end.enter_context(collecting(lambda: engine.idle))
        # After `collecting` has frozen what there is: this makes tables of grammars, which are
        # replaced later, and what is frozen would never be freed.
        with progress("warming up") as engine.tell:
            warm_up(engine, processes)
        drain = Drain(server.drain_seconds)
        app = create_app(engine, server, sinks, processes, drain)
        http = http_config(
            app,
            server.keep_alive_seconds,
            ssl_certfile=None if tls is None else tls.certificate,
            ssl_keyfile=None if tls is None else tls.key,
        )
        reload = reloading(options, tls, http)
        name, keyed = server.model_name or loaded.name, server.keys is not None

        def announce(address: str) -> None:
            print(greeting(name, address, keyed=keyed), flush=True)

        DrainingServer(http, drain, engine.stop, reload, announce).run([listening])


def reloading(
    options: ServeOptions, tls: TlsFiles | None, web: uvicorn.Config
) -> Callable[[], None] | None:
    """What reads the files of keys and of the certificate again; None if there are none."""
    source, keys = options.key_source, options.server.keys
    if source.file is None and tls is None:
        return None

    def reload() -> None:
        if keys is not None:
            given = KeyRing(source.read())
            check_classes(given, options.engine.classes)
            keys.replace(given.keys)
        if tls is not None and web.ssl is not None:
            tls.check()
            tls.load_into(web.ssl)

    return reload


def grammar_work(
    vocabulary: Vocabulary,
    count: int,
    seconds: float,
    nbytes: int,
    nursery: Nursery | None = None,
) -> AbstractContextManager[GrammarProcesses | None]:
    """`count` shared grammar processes while the block runs, beside the one in which grammars
    begin, forked from `nursery` if there is one; None if there are to be none."""
    if count == 0:
        return nullcontext()
    return closing(
        GrammarProcesses(vocabulary, count=count, seconds=seconds, nbytes=nbytes, nursery=nursery)
    )
