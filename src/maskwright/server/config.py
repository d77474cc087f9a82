"""The settings of the HTTP server. The engine has settings of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, get_args

from maskwright.automaton.value.whitespace import WHITESPACE, WhitespaceName
from maskwright.errors import InputError
from maskwright.grammar.schema.options import AdditionalProperties, Numbers
from maskwright.grammar.tools.formats import tool_format
from maskwright.server.access.keys import KeyRing

ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.\-\[\]:]+(:[0-9]+)?")
DEFAULT_SECONDS: Final = 600.0
"""Most seconds that an answer may take where nobody says otherwise: as long as OpenAI's clients
wait by default."""

KEEP_ALIVE_SECONDS: Final = 75.0
"""Seconds for which a connection is kept open after an answer, unless somebody chooses: longer than
load balancers keep theirs (60), which would otherwise send a request into a connection that is
being closed."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The settings of the HTTP server.

    - `model_name`: the name at `/v1/models`; None for the loaded model's own.
    - `strict_model`: refuse requests for any other name with a 404.
    - `whitespace`: the whitespace in JSON answers. "spaced" is one line, as most programs write it,
      so that a weak model can't spend its tokens on line breaks; "flexible" leaves it to the model.
    - `additional_properties`: whether objects may have members of which their schema says nothing.
      The specification allows them; most clients mean none.
    - `numbers`: how numbers in JSON are written: "plain" as people do, "any" in every spelling.
    - `tool_format`: how the model writes tool calls; None recognises it by the chat template.
    - `chat_template_kwargs`: variables of the chat template, where a request sets no others.
    - `body_bytes`: upper bound on the bytes of a request body.
    - `grammar_bytes`: upper bound on the bytes of compiled grammars that are kept.
    - `ping_seconds`: silence on a stream after which a comment line keeps proxies from closing it.
    - `reader_seconds`: time after which a client that reads nothing of its stream is disconnected.
    - `request_seconds`: most seconds that an answer may take in the engine, which a request may
      only shorten; infinity for no limit. None for `DEFAULT_SECONDS`, where a request sets no limit
      and is not of the class "batch".
    - `batch_folder`: where files and batches are kept; None for a server that has none.
    - `file_bytes`: upper bound on the bytes of a file that a client stores.
    - `keys`: the keys of clients; None for a server that everybody may use.
    - `open_metrics`: `/metrics` needs no key.
    - `cors_origins`: origins of web pages whose scripts may use the server (`https://a.example`);
      "*" for all.
    - `drain_seconds`: how long requests may still take once the server is told to end.
    - `keep_alive_seconds`: how long a connection without a request is kept open.
    - `handoff_key`: what a router and its servers have in common so that one server computes the
      prompt of a request and another one answers it; None for a server that takes no part in this.
    - `log_prompts`: write prompts into the log, which otherwise contains no text of requests.
    """

    model_name: str | None = None
    strict_model: bool = False
    whitespace: WhitespaceName = "spaced"
    additional_properties: AdditionalProperties = "forbid"
    numbers: Numbers = "plain"
    tool_format: str | None = None
    chat_template_kwargs: Mapping[str, object] = field(
        default_factory=dict[str, object], hash=False
    )
    body_bytes: int = 8 << 20
    grammar_bytes: int = 128 << 20
    ping_seconds: float = 15.0
    reader_seconds: float = 60.0
    request_seconds: float | None = None
    batch_folder: Path | None = None
    file_bytes: int = 200 << 20
    log_prompts: bool = False
    keys: KeyRing | None = None
    open_metrics: bool = False
    cors_origins: tuple[str, ...] = ()
    drain_seconds: float = 30.0
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS
    handoff_key: str | None = None

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
                    f"cors_origin {origin!r}: browsers send origins as https://host or "
                    "http://host:port, without a path; '*' stands for all",
                    param="cors_origin",
                )
        if self.whitespace not in WHITESPACE:
            raise InputError(f"whitespace is one of {', '.join(WHITESPACE)}", param="whitespace")
        if self.numbers not in get_args(Numbers):
            message = f"numbers is one of {', '.join(get_args(Numbers))}"
            raise InputError(message, param="numbers")
        if self.additional_properties not in get_args(AdditionalProperties):
            raise InputError(
                f"additional_properties is one of {', '.join(get_args(AdditionalProperties))}",
                param="additional_properties",
            )
        if self.tool_format is not None:
            try:
                tool_format(self.tool_format)
            except InputError as error:  # which names the argument of `tool_format`
                raise InputError(error.message, param="tool_format") from None
