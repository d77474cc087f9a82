"""Say what a running server does now: requests, rates, times, blocks. The figures of its dashboard.

`maskwright status --url http://127.0.0.1:8000` asks the server twice, `--seconds` apart, because
rates need two moments. With `--watch` it asks again and again: on a terminal the figures stay in
their place, elsewhere each set of them is printed, with `--json` as a line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from maskwright.cli.options import JSON_HELP, ServerAccess
from maskwright.settings import option


@dataclass(frozen=True, slots=True)
class StatusOptions:
    """What `maskwright status` is given."""

    url: str = option("http://127.0.0.1:8000", "Address of the server.")
    access: ServerAccess = field(default_factory=ServerAccess)
    seconds: float = option(1.0, "Seconds between the two moments.", least=0.1)
    watch: bool = option(
        False, "Ask again and again, every --seconds, until Ctrl-C.", flag="--watch"
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")
