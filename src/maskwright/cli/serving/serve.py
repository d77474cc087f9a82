"""Serve a model over HTTP, in OpenAI's protocol.

docs/settings.md lists the settings with their variables, and shows a file of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

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
    RECORDS,
    SEVERAL,
    SHAPES,
    ServerConfig,
    host_option,
    port_option,
)
from maskwright.settings import option


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
    for objective, given in (("ttft", ttft), ("tpot", tpot)):
        for text in given:
            name, _, number = text.partition("=")
            if name not in by_name:
                raise InputError(
                    f"--{objective} {text}: CLASS=SECONDS is needed; classes are "
                    f"{', '.join(by_name)}",
                    param=objective,
                )
            try:
                by_name[name] = replace(by_name[name], **{objective: float(number)})
            except ValueError:
                raise InputError(
                    f"--{objective} {text}: {number!r} is no number of seconds", param=objective
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

    model: str = option(str(DEMO_PATH), MODEL_HELP, show_default="the demo model", group=MODEL)
    backend: Backend = option("auto", BACKEND_HELP, group=MODEL)
    device: str = option("cpu", DEVICE_HELP, group=MODEL)
    dtype: Dtype = option("auto", DTYPE_HELP, group=MODEL)
    weight_dtype: WeightDtype = option("auto", WEIGHT_DTYPE_HELP, group=MODEL)
    adapter: list[str] = option(
        [],
        "A LoRA adapter in FOLDER, for requests whose model is NAME. May be repeated.",
        metavar="NAME=FOLDER",
        group=MODEL,
    )
    draft_model: str | None = option(
        None,
        "Folder or hub id of a smaller model that drafts tokens, with the same vocabulary.",
        group=DECODING,
    )
    cache: str = option(str(USER_CACHE), CACHE_HELP, group=MODEL)

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

    grammar_processes: int = option(
        GRAMMAR_PROCESSES,
        "Processes that compute masks, which most grammars share, beside one in which new grammars "
        "begin. With 0 the engine's process does so itself.",
        least=0,
        group=SHAPES,
    )
    shape_seconds: float = option(
        10.0,
        "Most processor time to compile a grammar that has a process of its own, and for the masks "
        "of one answer.",
        least=0.1,
        group=SHAPES,
    )
    shape_bytes: int = option(
        512 << 20,
        "Most memory of a grammar that has a process of its own.",
        is_size=True,
        least=1 << 20,
        group=SHAPES,
    )


@dataclass(frozen=True, slots=True)
class Replication:
    """How many engines serve, where, and what each of them does."""

    replicas: int = option(
        1,
        "Engines, each in a process of its own, after one address; requests with equal beginnings "
        "go to one of them, and one that ends is replaced.",
        least=1,
        group=SEVERAL,
    )
    ray: bool = option(
        False,
        "Run the replicas in actors of a Ray cluster: of the one that RAY_ADDRESS names, else of "
        "one that is started on this machine. Needs the extra `ray`.",
        group=SEVERAL,
    )
    prefill: int = option(
        0,
        "Of the replicas, how many only compute prompts and hand requests over to those of "
        "--decode.",
        least=0,
        group=SEVERAL,
    )
    decode: int = option(
        0,
        "Of the replicas, how many answer requests whose prompts --prefill's compute.",
        least=0,
        group=SEVERAL,
    )


@dataclass(frozen=True)
class ServeOptions(Configurable):
    """What `maskwright serve` is given: the settings of all that it starts."""

    host: str = host_option()
    port: int = port_option()
    tls_certificate: str | None = option(
        None, "File with the server's certificate (PEM), for HTTPS.", metavar="FILE", group=ADDRESS
    )
    tls_key: str | None = option(
        None, "File with the private key of the certificate.", metavar="FILE", group=ADDRESS
    )
    chosen: ChosenModel = field(default_factory=ChosenModel)
    api_keys: str | None = option(
        None,
        "File with the keys of clients, as digests, and with their rates and quotas; 'maskwright "
        "key' makes entries. It is read again on SIGHUP.",
        metavar="FILE",
        group=ACCESS,
    )
    api_key: str | None = option(
        None,
        "A key that clients must send. Other users of this machine can read options; they can't "
        "read variables.",
        metavar="KEY",
        group=ACCESS,
    )
    server: ServerConfig = field(default_factory=ServerConfig)
    work: GrammarWork = field(default_factory=GrammarWork)
    engine: EngineConfig = field(default_factory=EngineConfig)
    ttft: list[str] = option(
        [],
        "Objective of a class of service: a request whose first token would take more than SECONDS "
        "is answered 429.",
        metavar="CLASS=SECONDS",
        group=BATCH,
    )
    tpot: list[str] = option(
        [],
        "Objective of a class of service: a request whose further tokens would take more than "
        "SECONDS each is answered 429.",
        metavar="CLASS=SECONDS",
        group=BATCH,
    )
    replication: Replication = field(default_factory=Replication)
    trace: str | None = option(
        None, "File to which a trace of each answer is added, as a line of JSON.", group=RECORDS
    )
    trace_requests: bool = option(
        False,
        "Add requests and tokens to traces, for 'maskwright replay'. They hold the text of prompts "
        "and answers.",
        group=RECORDS,
    )
    otel: str | None = option(
        None, "Address of an OpenTelemetry collector (OTLP over HTTP) for spans.", group=RECORDS
    )
    log_format: LogFormat = option("text", "'text' for people, 'json' for machines.", group=RECORDS)
    log_level: LogLevel = option("info", "The lowest level that is logged.", group=RECORDS)

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
