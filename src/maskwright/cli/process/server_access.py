"""The options of commands that ask a server, beside its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from maskwright.settings import Option


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """How a server is asked: with which key, and whom a command trusts to be the server."""

    api_key: Annotated[
        str | None,
        Option(
            envvar="MASKWRIGHT_API_KEY",
            help="The key, if the server has keys. Other users of this machine can read options; "
            "they can't read variables.",
            metavar="KEY",
        ),
    ] = None
    ca: Annotated[
        str | None,
        Option(
            help="PEM file of the certificate of the server, or of its authority, if that isn't "
            "known here.",
            metavar="FILE",
        ),
    ] = None
    insecure: Annotated[
        bool,
        Option(
            "--insecure",
            help="Trust any certificate of the server: nothing shows that it is the one meant.",
        ),
    ] = False
