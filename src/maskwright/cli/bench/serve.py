"""Measure a running server under load: its operating envelope.

`maskwright bench serve --url http://127.0.0.1:8000` sends requests in each pattern at each rate and
waits for the answers. It ends by itself; at the start it says after how long at most. `--self`
serves the demo model in this process instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from maskwright.cli.options import URL_HELP
from maskwright.cli.process.server_access import ServerAccess
from maskwright.settings import option


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
