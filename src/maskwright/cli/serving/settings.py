"""What `serve` starts, as its checked options say it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from maskwright.cli.options import LogFormat, LogLevel
from maskwright.cli.process.security import KeySource, TlsFiles
from maskwright.model_options import Backend, Dtype, WeightDtype
from maskwright.server.config import ServerConfig
from maskwright.server.observe.traces import TraceFile

if TYPE_CHECKING:
    from maskwright.server.observe.spans import Spans


class ChosenModel(NamedTuple):
    """The models that are loaded, and how they are computed. `path`, `draft_path`: folders, or ids
    on the Hugging Face hub. `adapters`: folders by name. `cache`: the folder for what is computed
    once for each vocabulary; None if nothing is kept."""

    path: str
    backend: Backend
    device: str
    dtype: Dtype
    weight_dtype: WeightDtype
    draft_path: str | None
    adapters: dict[str, Path]
    cache: Path | None


class GrammarWork(NamedTuple):
    """`shared` processes follow all grammars; with 0 the process of the engine does their work. A
    grammar with a process of its own has `seconds` of processor time and `nbytes` of memory."""

    shared: int
    seconds: float
    nbytes: int


class WebSettings(NamedTuple):
    """The settings of the HTTP server, where its keys, certificate and traces are, and its log."""

    config: ServerConfig
    keys: KeySource
    tls: TlsFiles | None
    sinks: list[TraceFile | Spans]
    log_format: LogFormat
    log_level: LogLevel
