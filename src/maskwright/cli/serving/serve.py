"""Serve a model over HTTP, in OpenAI's protocol.

docs/settings.md lists the settings with their variables, and shows a file of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final

from maskwright.cli.arguments import Configurable
from maskwright.cli.options import (
    BACKEND_HELP,
    CACHE_HELP,
    DEVICE_HELP,
    DTYPE_HELP,
    MODEL_HELP,
    USER_CACHE,
    WEIGHT_DTYPE_HELP,
    LogFormat,
    LogLevel,
    cache_folder,
)
from maskwright.cli.process.listening import KeySource
from maskwright.engine.config import BATCH, DECODING, EngineConfig, check_drafts_used
from maskwright.engine.schedule.service import ServiceClass
from maskwright.errors import InputError
from maskwright.model_options import DEMO_PATH, Backend, Dtype, WeightDtype, check_device_name
from maskwright.server.access import check_classes
from maskwright.server.config import (
    ACCESS,
    ADDRESS,
    HOST,
    PORT,
    RECORDS,
    SEVERAL,
    SHAPES,
    Host,
    Port,
    ServerConfig,
)
from maskwright.settings import Option


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


def replica_options(given: list[str], count: int, memory_fraction: float | None) -> list[str]:
    """The options of one of `count` replicas, which share the memory of the machine."""
    if memory_fraction is None:
        return given
    return [*given, "--memory-fraction", str(memory_fraction / count)]


def check_replicated(tls: str | None, batch_folder: Path | None) -> None:
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


MODEL: Final = "Model"
GRAMMAR_PROCESSES: Final = 1 if sys.platform == "linux" else 0
"""They are forked, and watched by what Linux says of a process."""


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The models that are loaded, and how they are computed."""

    model: Annotated[str, Option(help=MODEL_HELP, show_default="the demo model", group=MODEL)] = (
        str(DEMO_PATH)
    )
    backend: Annotated[Backend, Option(help=BACKEND_HELP, group=MODEL)] = "auto"
    device: Annotated[str, Option(help=DEVICE_HELP, group=MODEL)] = "cpu"
    dtype: Annotated[Dtype, Option(help=DTYPE_HELP, group=MODEL)] = "auto"
    weight_dtype: Annotated[WeightDtype, Option(help=WEIGHT_DTYPE_HELP, group=MODEL)] = "auto"
    adapter: Annotated[
        list[str],
        Option(
            help="A LoRA adapter in FOLDER, for requests whose model is NAME. May be repeated.",
            metavar="NAME=FOLDER",
            group=MODEL,
        ),
    ] = field(default_factory=list[str])
    draft_model: Annotated[
        str | None,
        Option(
            help="Folder or hub id of a smaller model that drafts tokens, with the same "
            "vocabulary.",
            group=DECODING,
        ),
    ] = None
    cache: Annotated[str, Option(help=CACHE_HELP, group=MODEL)] = str(USER_CACHE)

    def __post_init__(self) -> None:
        check_device_name(self.device)
        adapter_folders(self.adapter)

    @property
    def adapters(self) -> dict[str, Path]:
        """Folders of adapters by name."""
        return adapter_folders(self.adapter)

    @property
    def cache_folder(self) -> Path | None:
        """The folder for what is computed once for each vocabulary; None if nothing is kept."""
        return cache_folder(self.cache)


@dataclass(frozen=True, slots=True)
class GrammarWork:
    """The processes that compute masks."""

    grammar_processes: Annotated[
        int,
        Option(
            least=0,
            help="Processes that compute masks, which most grammars share, beside one in which "
            "new grammars begin. With 0 the engine's process does so itself.",
            group=SHAPES,
        ),
    ] = GRAMMAR_PROCESSES
    shape_seconds: Annotated[
        float,
        Option(
            least=0.1,
            help="Most processor time to compile a grammar that has a process of its own, and "
            "for the masks of one answer.",
            group=SHAPES,
        ),
    ] = 10.0
    shape_bytes: Annotated[
        int,
        Option(
            is_size=True,
            least=1 << 20,
            help="Most memory of a grammar that has a process of its own.",
            group=SHAPES,
        ),
    ] = 512 << 20


@dataclass(frozen=True, slots=True)
class Replication:
    """How many engines serve, where, and what each of them does."""

    replicas: Annotated[
        int,
        Option(
            least=1,
            help="Engines, each in a process of its own, after one address; requests with equal "
            "beginnings go to one of them, and one that ends is replaced.",
            group=SEVERAL,
        ),
    ] = 1
    ray: Annotated[
        bool,
        Option(
            help="Run the replicas in actors of a Ray cluster: of the one that RAY_ADDRESS names, "
            "else of one that is started on this machine. Needs the extra `ray`.",
            group=SEVERAL,
        ),
    ] = False
    prefill: Annotated[
        int,
        Option(
            least=0,
            help="Of the replicas, how many only compute prompts and hand requests over to those "
            "of --decode.",
            group=SEVERAL,
        ),
    ] = 0
    decode: Annotated[
        int,
        Option(
            least=0,
            help="Of the replicas, how many answer requests whose prompts --prefill's compute.",
            group=SEVERAL,
        ),
    ] = 0


@dataclass(frozen=True)
class ServeOptions(Configurable):
    """What `maskwright serve` is given: the settings of all that it starts."""

    host: Host = HOST
    port: Port = PORT
    tls_certificate: Annotated[
        str | None,
        Option(
            help="File with the server's certificate (PEM), for HTTPS.",
            metavar="FILE",
            group=ADDRESS,
        ),
    ] = None
    tls_key: Annotated[
        str | None,
        Option(help="File with the private key of the certificate.", metavar="FILE", group=ADDRESS),
    ] = None
    chosen: ChosenModel = field(default_factory=ChosenModel)
    api_keys: Annotated[
        str | None,
        Option(
            help="File with the keys of clients, as digests, and with their rates and quotas; "
            "'maskwright key' makes entries. It is read again on SIGHUP.",
            metavar="FILE",
            group=ACCESS,
        ),
    ] = None
    api_key: Annotated[
        str | None,
        Option(
            help="A key that clients must send. Other users of this machine can read options; "
            "they can't read variables.",
            metavar="KEY",
            group=ACCESS,
        ),
    ] = None
    server: ServerConfig = field(default_factory=ServerConfig)
    work: GrammarWork = field(default_factory=GrammarWork)
    engine: EngineConfig = field(default_factory=EngineConfig)
    ttft: Annotated[
        list[str],
        Option(
            help="Objective of a class of service: a request whose first token would take more "
            "than SECONDS is answered 429.",
            metavar="CLASS=SECONDS",
            group=BATCH,
        ),
    ] = field(default_factory=list[str])
    tpot: Annotated[
        list[str],
        Option(
            help="Objective of a class of service: a request whose further tokens would take more "
            "than SECONDS each is answered 429.",
            metavar="CLASS=SECONDS",
            group=BATCH,
        ),
    ] = field(default_factory=list[str])
    replication: Replication = field(default_factory=Replication)
    trace: Annotated[
        str | None,
        Option(
            help="File to which a trace of each answer is added, as a line of JSON.", group=RECORDS
        ),
    ] = None
    trace_requests: Annotated[
        bool,
        Option(
            help="Add requests and tokens to traces, for 'maskwright replay'. They hold the text "
            "of prompts and answers.",
            group=RECORDS,
        ),
    ] = False
    otel: Annotated[
        str | None,
        Option(
            help="Address of an OpenTelemetry collector (OTLP over HTTP) for spans.", group=RECORDS
        ),
    ] = None
    log_format: Annotated[
        LogFormat, Option(help="'text' for people, 'json' for machines.", group=RECORDS)
    ] = "text"
    log_level: Annotated[
        LogLevel, Option(help="The lowest level that is logged.", group=RECORDS)
    ] = "info"

    @property
    def key_source(self) -> KeySource:
        """Where the keys of clients come from."""
        return KeySource(self.api_key, self.api_keys)

    def settled(self) -> ServeOptions:
        """These options with what some of them add to the settings of others. Raises InputError."""
        if self.chosen.draft_model is not None:
            check_drafts_used(self.engine.drafts)
        classes = with_objectives(self.engine.classes, self.ttft, self.tpot)
        keys = self.key_source.ring()
        check_classes(keys, classes)
        server = replace(self.server, keys=keys, reader_seconds=self.engine.reader_seconds)
        return replace(self, server=server, engine=replace(self.engine, classes=classes))
