"""The rates and quotas of one key, as token buckets (Turner, "New directions in communications",
1986).

A bucket of `n` in a minute holds `n` and is refilled evenly, so that within any minute at most
twice `n` pass, and `n` a minute in the long run. What an answer takes is known only at its end.
Tokens are therefore taken when they have been used, and a bucket may fall below zero by the answers
that were under way; requests then wait until it is above zero again.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from maskwright.engine import Generation, Trace
from maskwright.server.access.keys import ApiKey

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
            generation.when_ended(self._ended)

    def headers(self) -> dict[str, str]:
        """Return the headers in which OpenAI tells limits: the limit, what remains of it, and the
        time until it is whole again. Of two limits on tokens, the one with less left."""
        with self._lock:
            return dict(self._headers(self._clock()))

    def _ended(self, trace: Trace) -> None:
        self.charge(trace.completion_tokens)

    def _take(self, unit: Unit, amount: int, now: float) -> None:
        for counted, bucket in self._buckets.values():
            if counted == unit:
                bucket.take(amount, now)

    def _headers(self, now: float) -> Iterator[tuple[str, str]]:
        units: tuple[Unit, ...] = ("requests", "tokens")
        for unit in units:
            buckets = [bucket for counted, bucket in self._buckets.values() if counted == unit]
            if not buckets:
                continue
            least = min(buckets, key=lambda bucket: bucket.level(now))
            yield f"x-ratelimit-limit-{unit}", str(least.capacity)
            yield f"x-ratelimit-remaining-{unit}", str(max(0, math.floor(least.level(now))))
            whole = least.seconds_to(least.capacity, now)
            yield f"x-ratelimit-reset-{unit}", duration(whole)


def duration(seconds: float) -> str:
    """Return a time as OpenAI's headers write it: `20ms`, `1.5s`, `6m0s`, `23h59m1s`."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    if seconds < 60:
        return f"{math.ceil(seconds * 1000) / 1000:g}s"
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s"
