"""The options of `bench` and `bench serve`, which are read before a command is imported."""

from __future__ import annotations

from dataclasses import dataclass, field

from maskwright.cli.options import (
    JSON_HELP,
    KIND_HELP,
    SHAPE_HELP,
    TEXT_HELP,
    URL_HELP,
    VOCABULARY_HELP,
    ServerAccess,
)
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What `maskwright bench` is given."""

    shape: str = argument(SHAPE_HELP)
    files: list[str] = argument("Files with texts to read; '-' is standard input.", [])
    text: list[str] = option([], TEXT_HELP)
    count: int = option(10, "How many random texts, if none is given.", flag="--samples", least=1)
    seed: int = option(0, "Seed of the random texts.")
    rounds: int = option(5, "How many times the shape is compiled and the texts are read.", least=1)
    model: str = option("demo", VOCABULARY_HELP)
    peers: bool = option(True, "Measure other engines too, if they are installed.")
    kind: Kind = option("auto", KIND_HELP)
    plot: str | None = option(None, "SVG file to which the times are drawn.", metavar="FILE")
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class BenchServeOptions:
    """What `maskwright bench serve` is given."""

    url: str | None = option(None, URL_HELP)
    access: ServerAccess = field(default_factory=ServerAccess)
    own: bool = option(
        False, "Serve the demo model in this process, and measure that.", flag="--self"
    )
    patterns: str = option("steady,burst,adversarial", "Patterns of arrivals, separated by commas.")
    rates: str = option("1,2,4,8", "Rates of arrivals in requests a second, separated by commas.")
    seconds: float = option(10.0, "Seconds for which each pattern is sent at each rate.", least=0.1)
    drain: float = option(10.0, "Seconds to wait for answers after the last request.", least=0.0)
    prompts: str = option("16,200", "Lengths of prompts in words, separated by commas.")
    caps: str = option("48,128", "Most tokens of an answer, separated by commas.")
    services: str = option(
        "interactive,batch",
        "Classes of service, separated by commas; empty for a server that has none.",
    )
    temperatures: str = option("0,1", "Temperatures of sampling, separated by commas.")
    shapes: str = option("none,schema,regex", "Shapes of answers, separated by commas.")
    ttft: float = option(2.0, "Seconds within which the first token of a good answer comes.")
    tpot: float = option(0.2, "Seconds within which each further token of a good answer comes.")
    seed: int = option(0, "Seed of the prompts, the samples and the order of requests.")
    plot: str | None = option(None, "SVG file to which the envelope is drawn.")
    rows: str | None = option(None, "File to which a line of JSON is written for each point.")
