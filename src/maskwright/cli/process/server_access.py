"""The options of commands that ask a server, beside its address."""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.settings import option


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """How a server is asked: with which key, and whom a command trusts to be the server."""

    api_key: str | None = option(
        None,
        "The key, if the server has keys. Other users of this machine can read options; they can't "
        "read variables.",
        envvar="MASKWRIGHT_API_KEY",
        metavar="KEY",
    )
    ca: str | None = option(
        None,
        "PEM file of the certificate of the server, or of its authority, if that isn't known here.",
        metavar="FILE",
    )
    insecure: bool = option(
        False,
        "Trust any certificate of the server: nothing shows that it is the one meant.",
        flag="--insecure",
    )
