"""The settings of the HTTP server, and what it is by them: the software, the model and the settings
that decide which tokens an answer has. The engine has settings of its own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from maskwright.automaton.value.whitespace import WHITESPACE, WhitespaceName
from maskwright.errors import InputError
from maskwright.grammar.schema.options import AdditionalProperties, Numbers
from maskwright.server.access import KeyRing
from maskwright.server.json import Json
from maskwright.settings import option
from maskwright.version import VERSION

if TYPE_CHECKING:  # settings are checked without importing torch
    from maskwright.engine import Engine

ADDRESS: Final = "Address and connections"
ACCESS: Final = "Access"
REQUESTS: Final = "Requests"
SHAPES: Final = "Shapes"
SEVERAL: Final = "Several engines"
RECORDS: Final = "Traces and log"

ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.\-\[\]:]+(:[0-9]+)?")
DEFAULT_SECONDS: Final = 600.0
"""Most seconds that an answer may take where nobody says otherwise: as long as OpenAI's clients
wait by default."""

HOST: Final = "127.0.0.1"
PORT: Final = 8000
BODY_BYTES: Final = 8 << 20
DRAIN_SECONDS: Final = 30.0
KEEP_ALIVE_SECONDS: Final = 75.0
"""Seconds for which a connection is kept open after an answer, unless somebody chooses: longer than
load balancers keep theirs (60), which would otherwise send a request into a connection that is
being closed."""
# Settings that `maskwright route` has as well.
host_option: Final = partial(option, HOST, "Address to listen on.", group=ADDRESS)
port_option: Final = partial(
    option,
    PORT,
    "Port to listen on; with 0 a free one is taken.",
    least=0,
    most=65535,
    group=ADDRESS,
)
body_bytes_option: Final = partial(
    option, BODY_BYTES, "Most bytes of the body of a request.", is_size=True, group=REQUESTS
)
drain_seconds_option: Final = partial(
    option,
    DRAIN_SECONDS,
    "Time that requests may still take after SIGTERM, while new ones are answered 503.",
    least=0,
    group=ADDRESS,
)
keep_alive_seconds_option: Final = partial(
    option,
    KEEP_ALIVE_SECONDS,
    "Time for which a connection without a request is kept open: longer than a load balancer in "
    "front keeps it.",
    least=0,
    group=ADDRESS,
)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The settings of the HTTP server, each described at its field. Raises `InputError` for an
    invalid one."""

    model_name: str | None = option(
        None,
        "Name of the model at /v1/models. Default: its own name.",
        flag="--name",
        group=REQUESTS,
    )
    strict_model: bool = option(False, "Refuse requests that name another model.", group=REQUESTS)
    body_bytes: int = body_bytes_option()
    request_seconds: float | None = option(
        None,
        "Longest time that an answer may take, waiting included; then the client gets a 504. A "
        "request may ask for less; 'inf' is no limit. Default: 600 or what the request asks for; "
        "requests of the class 'batch' have no default.",
        group=REQUESTS,
    )
    chat_template_kwargs: Mapping[str, object] = option(
        {},
        "Variables of the chat template, as a JSON object, where a request sets no others: "
        '{"enable_thinking": false}.',
        group=REQUESTS,
        hash=False,
    )
    batch_folder: Path | None = option(
        None,
        "Folder for /v1/files and /v1/batches. A batch that was interrupted is continued from "
        "there.",
        metavar="FOLDER",
        group=REQUESTS,
    )
    file_bytes: int = option(
        200 << 20, "Most bytes of a file that a client stores.", is_size=True, group=REQUESTS
    )
    whitespace: WhitespaceName = option(
        "spaced", "White space in JSON answers; 'flexible' leaves it to the model.", group=SHAPES
    )
    """The default is one line, as most programs write it, so that a weak model can't spend its
    tokens on line breaks."""
    additional_properties: AdditionalProperties = option(
        "forbid",
        "Whether objects may have properties that their schema doesn't mention: forbid, or allow "
        "as JSON Schema does.",
        group=SHAPES,
    )
    """The specification allows them; most clients mean none."""
    numbers: Numbers = option(
        "plain",
        "How numbers in JSON are written: plain, as people do, without an exponent, or any.",
        group=SHAPES,
    )
    tool_format: str | None = option(
        None, "How the model writes tool calls. Default: as its chat template shows.", group=SHAPES
    )
    grammar_bytes: int = option(
        128 << 20, "Most bytes of compiled grammars that are kept.", is_size=True, group=SHAPES
    )
    keys: KeyRing | None = None
    """The keys of clients; None for a server that everybody may use."""
    open_metrics: bool = option(False, "Let everybody read /metrics without a key.", group=ACCESS)
    cors_origins: tuple[str, ...] = option(
        (),
        "Let scripts of web pages from ORIGIN (https://host) use the server; '*' for all. May be "
        "repeated.",
        flag="--cors-origin",
        metavar="ORIGIN",
        group=ACCESS,
    )
    ping_seconds: float = option(
        15.0,
        "Silence on a stream after which a comment line keeps proxies from closing it.",
        group=ADDRESS,
    )
    reader_seconds: float = 60.0
    """Time after which a client that reads nothing of its stream is disconnected."""
    drain_seconds: float = drain_seconds_option()
    keep_alive_seconds: float = keep_alive_seconds_option()
    handoff_key: str | None = option(
        None,
        "A key with which this server takes requests from other servers and hands them over, where "
        "a router has the key too. Whoever has it can decide what is answered.",
        metavar="KEY",
        group=SEVERAL,
    )
    """None for a server that takes no part in this."""
    log_prompts: bool = option(
        False, "Log the text of prompts; otherwise the log holds no text.", group=RECORDS
    )

    def __post_init__(self) -> None:
        for name in ("body_bytes", "grammar_bytes", "ping_seconds", "reader_seconds", "file_bytes"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be greater than 0", param=name)
        if self.request_seconds is not None and not self.request_seconds > 0:
            raise InputError(
                "request_seconds must be a number greater than 0", param="request_seconds"
            )
        for name in ("drain_seconds", "keep_alive_seconds"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must be at least 0", param=name)
        if self.handoff_key == "":
            raise InputError("handoff_key must not be empty", param="handoff_key")
        for origin in self.cors_origins:
            if origin != "*" and not ORIGIN.fullmatch(origin):
                raise InputError(
                    f"cors_origins {origin!r}: browsers send origins as https://host or "
                    "http://host:port, without a path; '*' stands for all",
                    param="cors_origins",
                )
        for name, choices in (
            ("whitespace", tuple(WHITESPACE)),
            ("numbers", get_args(Numbers)),
            ("additional_properties", get_args(AdditionalProperties)),
        ):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} is one of {', '.join(choices)}", param=name)
        if self.tool_format is not None:
            from maskwright.grammar.tools.formats import tool_format  # noqa: PLC0415 (msgspec)

            try:
                tool_format(self.tool_format)
            except InputError as error:  # which names the argument of `tool_format`
                raise InputError(error.message, param="tool_format") from None


@dataclass(frozen=True, slots=True)
class Identity:
    """What serves. Two servers with equal fingerprints give equal answers to equal requests with
    equal seeds, where logits have equal bits under any schedule.

    - `fingerprint`: OpenAI's `system_fingerprint`, which changes with all of the rest.
    - `weights`: the revision of the checkpoint.
    - `vocabulary`: the digest of the tokens.
    - `settings`: the settings of engine and server that change tokens, by name.
    """

    fingerprint: str
    weights: str
    vocabulary: str
    settings: Json


def identity_of(engine: Engine, config: ServerConfig, tool_format: str) -> Identity:
    """Return what an engine and its server are. `tool_format`: how the model writes tool calls."""
    loaded = engine.loaded
    settings: Json = {
        "canonical": engine.config.canonical,
        "kv_dtype": engine.config.kv_dtype,
        "max_context": engine.max_context,
        "whitespace": config.whitespace,
        "additional_properties": config.additional_properties,
        "numbers": config.numbers,
        "tool_format": tool_format,
        "chat_template_kwargs": dict(config.chat_template_kwargs),
    }
    parts = {
        "maskwright": VERSION,
        "torch": version("torch"),
        "model": loaded.name,
        "weights": loaded.revision,
        "vocabulary": loaded.vocab.digest,
        **settings,
    }
    digest = hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=5)
    return Identity(f"fp_{digest.hexdigest()}", loaded.revision, str(loaded.vocab.digest), settings)
