"""Say what a running server does now: requests, rates, times, blocks. The figures of its dashboard.

`maskwright status --url http://127.0.0.1:8000` asks the server twice, `--seconds` apart, because
rates need two moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from maskwright.cli.options import CA_HELP, INSECURE_HELP, JSON_HELP
from maskwright.settings import Option


@dataclass(frozen=True, slots=True)
class StatusOptions:
    """What `maskwright status` is given."""

    url: Annotated[str, Option(help="Address of the server.")] = "http://127.0.0.1:8000"
    api_key: Annotated[
        str | None,
        Option(
            envvar="MASKWRIGHT_API_KEY",
            help="The key, if the server has keys. Other users of this machine can read options; "
            "they can't read variables.",
            metavar="KEY",
        ),
    ] = None
    ca: Annotated[str | None, Option(help=CA_HELP, metavar="FILE")] = None
    insecure: Annotated[bool, Option("--insecure", help=INSECURE_HELP)] = False
    seconds: Annotated[float, Option(least=0.1, help="Seconds between the two moments.")] = 1.0
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
