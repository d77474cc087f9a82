"""Measure a running server under load: its operating envelope.

`maskwright bench serve --url http://127.0.0.1:8000` sends requests in each pattern at each rate and
waits for the answers. It ends by itself; at the start it says after how long at most. `--self`
serves the demo model in this process instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from maskwright.cli.options import URL_HELP
from maskwright.cli.process.server_access import ServerAccess
from maskwright.settings import Option


@dataclass(frozen=True, slots=True)
class BenchServeOptions:
    """What `maskwright bench serve` is given."""

    url: Annotated[str | None, Option(help=URL_HELP)] = None
    access: ServerAccess = field(default_factory=ServerAccess)
    own: Annotated[
        bool, Option("--self", help="Serve the demo model in this process, and measure that.")
    ] = False
    patterns: Annotated[str, Option(help="Patterns of arrivals, separated by commas.")] = (
        "steady,burst,adversarial"
    )
    rates: Annotated[
        str, Option(help="Rates of arrivals in requests a second, separated by commas.")
    ] = "1,2,4,8"
    seconds: Annotated[
        float, Option(least=0.1, help="Seconds for which each pattern is sent at each rate.")
    ] = 10.0
    drain: Annotated[
        float, Option(least=0.0, help="Seconds to wait for answers after the last request.")
    ] = 10.0
    prompts: Annotated[str, Option(help="Lengths of prompts in words, separated by commas.")] = (
        "16,200"
    )
    caps: Annotated[str, Option(help="Most tokens of an answer, separated by commas.")] = "48,128"
    services: Annotated[
        str,
        Option(help="Classes of service, separated by commas; empty for a server that has none."),
    ] = "interactive,batch"
    temperatures: Annotated[str, Option(help="Temperatures of sampling, separated by commas.")] = (
        "0,1"
    )
    shapes: Annotated[str, Option(help="Shapes of answers, separated by commas.")] = (
        "none,schema,regex"
    )
    ttft: Annotated[
        float, Option(help="Seconds within which the first token of a good answer comes.")
    ] = 2.0
    tpot: Annotated[
        float, Option(help="Seconds within which each further token of a good answer comes.")
    ] = 0.2
    seed: Annotated[
        int, Option(help="Seed of the prompts, the samples and the order of requests.")
    ] = 0
    plot: Annotated[str | None, Option(help="SVG file to which the envelope is drawn.")] = None
    rows: Annotated[
        str | None, Option(help="File to which a line of JSON is written for each point.")
    ] = None
