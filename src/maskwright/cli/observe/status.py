"""Say what a running server does now: requests, rates, times, blocks. The figures of its dashboard.

`maskwright status --url http://127.0.0.1:8000` asks the server twice, `--seconds` apart, because
rates need two moments. With `--watch` it asks again and again: on a terminal the figures stay in
their place, elsewhere each set of them is printed, with `--json` as a line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from maskwright.cli.options import JSON_HELP
from maskwright.cli.process.server_access import ServerAccess
from maskwright.settings import Option


@dataclass(frozen=True, slots=True)
class StatusOptions:
    """What `maskwright status` is given."""

    url: Annotated[str, Option(help="Address of the server.")] = "http://127.0.0.1:8000"
    access: ServerAccess = field(default_factory=ServerAccess)
    seconds: Annotated[float, Option(least=0.1, help="Seconds between the two moments.")] = 1.0
    watch: Annotated[
        bool, Option("--watch", help="Ask again and again, every --seconds, until Ctrl-C.")
    ] = False
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
