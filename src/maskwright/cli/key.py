"""Make a key for a client of a server, and its entry in a file.

The file is that of `serve --api-keys`. The entry goes to standard output, the key itself to
standard error. It is shown only once: the entry holds a digest, from which nobody can find the key.
`maskwright key alice >> keys.toml` adds an entry; a server that runs takes it up on SIGHUP.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
from dataclasses import dataclass
from typing import Literal

from maskwright.errors import InputError
from maskwright.key_digest import digest_of
from maskwright.settings import argument, option

PREFIX = "mw-"
"""The beginning of all keys, by which tools that look for secrets in files can know them."""


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """What `maskwright key` is given."""

    name: str = argument("Name of the key in logs, traces and metrics.")
    requests_per_minute: int | None = option(None, "Most requests in a minute.", least=1)
    tokens_per_minute: int | None = option(
        None, "Most tokens of prompts and answers in a minute.", least=1
    )
    tokens_per_day: int | None = option(
        None, "Most tokens of prompts and answers in a day.", least=1
    )
    service: list[Literal["interactive", "agent", "batch"]] = option(
        [],
        "A class of service that the key may use; the first one is its default. May be repeated. "
        "Default: all.",
        metavar="CLASS",
    )


def run(options: KeyOptions) -> None:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", options.name):
        raise InputError("NAME is 1 to 64 of the characters A-Z a-z 0-9 . _ -", param="name")
    made = PREFIX + secrets.token_urlsafe(32)
    fields = {
        "name": options.name,
        "sha256": digest_of(made),
        "requests_per_minute": options.requests_per_minute,
        "tokens_per_minute": options.tokens_per_minute,
        "tokens_per_day": options.tokens_per_day,
        "classes": options.service or None,
    }
    # TOML writes ASCII texts, integers and lists of texts as JSON does.
    lines = (f"{key} = {json.dumps(value)}" for key, value in fields.items() if value is not None)
    print("[[key]]", *lines, "", sep="\n")
    print(f"The key of {options.name}, which is shown only now: {made}", file=sys.stderr)
