"""Who may send requests, and how many: the keys of clients, and the rates and quotas of each.

The server knows only the SHA-256 digests of keys. A key is a random text of 256 bits, which nobody
can guess from its digest, so that no slow hash is needed. The file is TOML:

    [[key]]
    name = "alice"
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    requests_per_minute = 60
    tokens_per_minute = 100000
    tokens_per_day = 5000000
    classes = ["agent", "batch"]

Rates are token buckets (Turner, "New directions in communications", 1986). A bucket of `n` in a
minute holds `n` and is refilled evenly, so that within any minute at most twice `n` pass, and `n` a
minute in the long run. What an answer takes is known only at its end. Tokens are therefore taken
when they have been used, and a bucket may fall below zero by the answers that were under way;
requests then wait until it is above zero again.
"""

from __future__ import annotations

import hmac
import math
import re
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from maskwright.engine.schedule.service import ServiceClass
from maskwright.errors import InputError
from maskwright.key_digest import digest_of

if TYPE_CHECKING:  # keys are made and checked without importing torch
    from maskwright.engine import Generation

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


MINUTE: Final = 60.0
DAY: Final = 86_400.0

Unit: TypeAlias = Literal["requests", "tokens"]


class Bucket:
    """A token bucket with `capacity`, which is refilled evenly within `period` seconds."""

    def __init__(self, capacity: int, period: float, now: float) -> None:
        self.capacity = capacity
        self.period = period
        self._level = float(capacity)
        self._at = now

    def level(self, now: float) -> float:
        """Return what is there at the time `now`."""
        self._level = min(
            float(self.capacity), self._level + (now - self._at) * self.capacity / self.period
        )
        self._at = now
        return self._level

    def take(self, amount: float, now: float) -> None:
        """Take `amount`, also if less is there."""
        self._level = self.level(now) - amount

    def seconds_to(self, level: float, now: float) -> float:
        """Return the time in seconds until `level` is reached; 0 if it is."""
        return max(0.0, (level - self.level(now)) * self.period / self.capacity)


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit that a key has reached: `name` is that of the field of the key. A further request is
    let in after `seconds`."""

    name: str
    limit: int
    seconds: float

    @property
    def what(self) -> str:
        """What the key may use, in words."""
        return f"{self.limit} {self.name.replace('_', ' ')}"


class Allowance:
    """What one key may still use. Can be used from any thread."""

    def __init__(self, key: ApiKey, clock: Callable[[], float] = time.monotonic) -> None:
        self.key = key
        self._clock = clock
        self._lock = threading.Lock()
        now = clock()
        limits: tuple[tuple[str, Unit, int | None, float], ...] = (
            ("requests_per_minute", "requests", key.requests_per_minute, MINUTE),
            ("tokens_per_minute", "tokens", key.tokens_per_minute, MINUTE),
            ("tokens_per_day", "tokens", key.tokens_per_day, DAY),
        )
        self._buckets = {
            name: (unit, Bucket(limit, period, now))
            for name, unit, limit, period in limits
            if limit is not None
        }

    def enter(self) -> Excess | None:
        """Count one request; or return the limit that doesn't let it in, of several the one that
        lasts longest, and count nothing."""
        with self._lock:
            now = self._clock()
            exceeded = [
                Excess(name, bucket.capacity, bucket.seconds_to(1.0, now))
                for name, (_, bucket) in self._buckets.items()
                if bucket.level(now) < 1.0
            ]
            if exceeded:
                return max(exceeded, key=lambda each: each.seconds)
            self._take("requests", 1, now)
            return None

    def exceeded_by(self, tokens: int) -> Excess | None:
        """Return the limit that prompts of at least so many tokens exceed now; of several the
        smallest one that they always exceed, or else the one that lasts longest."""
        with self._lock:
            now = self._clock()
            exceeded = [
                Excess(name, bucket.capacity, bucket.seconds_to(float(tokens), now))
                for name, (unit, bucket) in self._buckets.items()
                if unit == "tokens" and bucket.level(now) < tokens
            ]
        always = [each for each in exceeded if each.limit < tokens]
        if always:
            return min(always, key=lambda each: each.limit)
        return max(exceeded, key=lambda each: each.seconds, default=None)

    def charge(self, tokens: int) -> None:
        """Take tokens that were used."""
        with self._lock:
            self._take("tokens", tokens, self._clock())

    def charge_answers(self, prompt_tokens: int, generations: Iterable[Generation]) -> None:
        """Take the tokens of prompts now, and the tokens of each answer at its end."""
        self.charge(prompt_tokens)
        for generation in generations:
            generation.when_ended(lambda trace: self.charge(trace.completion_tokens))

    def headers(self) -> dict[str, str]:
        """Return the headers in which OpenAI tells limits: the limit, what remains of it, and the
        time until it is whole again. Of two limits on tokens, the one with less left."""
        found: dict[str, str] = {}
        units: tuple[Unit, ...] = ("requests", "tokens")
        with self._lock:
            now = self._clock()
            for unit in units:
                buckets = [bucket for counted, bucket in self._buckets.values() if counted == unit]
                if buckets:
                    least = min(buckets, key=lambda bucket: bucket.level(now))
                    left = max(0, math.floor(least.level(now)))
                    found[f"x-ratelimit-limit-{unit}"] = str(least.capacity)
                    found[f"x-ratelimit-remaining-{unit}"] = str(left)
                    whole = least.seconds_to(least.capacity, now)
                    found[f"x-ratelimit-reset-{unit}"] = duration(whole)
        return found

    def _take(self, unit: Unit, amount: int, now: float) -> None:
        for counted, bucket in self._buckets.values():
            if counted == unit:
                bucket.take(amount, now)


def duration(seconds: float) -> str:
    """Return a time as OpenAI's headers write it: `20ms`, `1.5s`, `6m0s`, `23h59m1s`."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    if seconds < 60:
        return f"{math.ceil(seconds * 1000) / 1000:g}s"
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s"
