"""The keys of clients. The server knows only their SHA-256 digests.

A key is a random text of 256 bits, which nobody can guess from its digest, so that no slow hash is
needed. The file is TOML:

    [[key]]
    name = "alice"
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    requests_per_minute = 60
    tokens_per_minute = 100000
    tokens_per_day = 5000000
    classes = ["agent", "batch"]
"""

from __future__ import annotations

import hmac
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, cast

from maskwright.engine.schedule.service import ServiceClass
from maskwright.errors import InputError
from maskwright.key_digest import digest_of

NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
DIGEST: Final = re.compile(r"[0-9a-f]{64}")

DEFAULT_NAME: Final = "default"
"""The name of the key that is given by itself, without a file."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key and what it allows. Raises InputError.

    - `name`: identifies the key in logs, traces and metrics.
    - `sha256`: the digest of the key, in lower-case hexadecimal digits.
    - `requests_per_minute`, `tokens_per_minute`, `tokens_per_day`: upper bounds; None for none.
      Tokens of prompts and of answers count.
    - `classes`: the classes of service that it may use, the first one by default; empty for all.
    """

    name: str
    sha256: str
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise _wrong(f"the name {self.name!r} is not 1 to 64 of A-Z a-z 0-9 . _ -")
        if not DIGEST.fullmatch(self.sha256):
            raise _wrong(f"sha256 of {self.name} is not 64 lower-case hexadecimal digits")
        for limit in ("requests_per_minute", "tokens_per_minute", "tokens_per_day"):
            value: object = getattr(self, limit)
            if value is not None and (type(value) is not int or value < 1):
                raise _wrong(f"{limit} of {self.name} is {value!r}, not an integer above 0")


class KeyRing:
    """All keys of a server. Can be used from any thread."""

    def __init__(self, keys: Iterable[ApiKey]) -> None:
        """Raises InputError for keys with equal names or digests."""
        self.keys: tuple[ApiKey, ...] = ()
        self.replace(keys)

    def replace(self, keys: Iterable[ApiKey]) -> None:
        """Replace all keys. Raises InputError, and then changes nothing."""
        given = tuple(keys)
        for what in ("name", "sha256"):
            values = [getattr(key, what) for key in given]
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise _wrong(f"two keys have the {what} {twice!r}")
        self.keys = given

    def find(self, text: str) -> ApiKey | None:
        """Return the key that `text` is, or None. The time that it takes tells nothing of the keys:
        the digest of the text is compared with all digests, each in constant time."""
        digest = digest_of(text)
        found: ApiKey | None = None
        for key in self.keys:
            if hmac.compare_digest(key.sha256, digest):
                found = key
        return found


def read_keys(path: Path) -> list[ApiKey]:
    """Read a file of keys. Raises InputError."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _wrong(f"can't read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(f"{path} is not TOML: {error}") from None
    entries: object = tree.get("key", [])
    if set(tree) - {"key"} or not isinstance(entries, list):
        raise _wrong(f"{path} may only contain tables [[key]]")
    try:
        return [_key(entry) for entry in cast(list[object], entries)]
    except InputError as error:
        raise _wrong(f"{path}: {error.message}") from None


def check_classes(keys: KeyRing | None, known: Iterable[ServiceClass]) -> None:
    """Check that the classes of service of all keys are `known`. Raises InputError."""
    names = [each.name for each in known]
    for key in () if keys is None else keys.keys:
        for name in key.classes:
            if name not in names:
                raise _wrong(
                    f"the key {key.name} names the class {name!r}; there are {', '.join(names)}"
                )


def _key(entry: object) -> ApiKey:
    if not isinstance(entry, dict):
        raise _wrong("a key is a table [[key]]")
    given = dict(cast(Mapping[str, Any], entry))
    known = [field.name for field in fields(ApiKey)]
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise _wrong(f"there is no field {unknown!r}; there are {', '.join(known)}")
    for name in ("name", "sha256"):
        if not isinstance(given.get(name), str):
            raise _wrong(f"each key needs a text {name}")
    classes: object = given.pop("classes", [])
    if not isinstance(classes, list) or not all(
        isinstance(item, str) for item in cast(list[object], classes)
    ):
        raise _wrong(f"classes of {given['name']} is not a list of texts")
    return ApiKey(**given, classes=tuple(cast(list[str], classes)))


def _wrong(message: str) -> InputError:
    return InputError(message, param="api_keys")
