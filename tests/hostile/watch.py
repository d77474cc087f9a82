"""One client that streams a long array of strings again and again, and times what it gets."""

from __future__ import annotations

import gc
import http.client
import json
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO, Any, Final

from benchmarks.report import percentile
from tests.live_server import address

LONG: Final = (120, 200)
"""The least and the greatest number of strings in an answer."""
PATIENCE: Final = 60.0
"""Seconds for which the stream may be silent before it counts as lost."""


def towns(counts: tuple[int, int]) -> dict[str, Any]:
    """The schema of an array with at least and at most so many strings."""
    return {
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 60},
        "minItems": counts[0],
        "maxItems": counts[1],
    }


@dataclass(frozen=True)
class Gap:
    """A time in which the client read no text: when it began, how long it lasted, and for how much
    of that the client waited for a processor, all in seconds. The wait for the first text of an
    answer is a gap too."""

    begin: float
    seconds: float
    waited: float = 0.0

    @property
    def unserved(self) -> float:
        """The seconds in which there was nothing for the client to read: a client that waits for a
        processor has something to do, which is to read."""
        return max(0.0, self.seconds - self.waited)


class Waits:
    """How long the thread that began this has waited for a processor although it had work. Only
    Linux tells that; elsewhere it is 0."""

    def __init__(self) -> None:
        try:
            self._file: IO[bytes] | None = open(  # noqa: SIM115
                f"/proc/self/task/{threading.get_native_id()}/schedstat", "rb", buffering=0
            )
        except OSError:
            self._file = None

    def seconds(self) -> float:
        """The sum so far. Of the three numbers in the file, the second is this in nanoseconds."""
        if self._file is None:
            return 0.0
        self._file.seek(0)
        return int(self._file.read().split()[1]) / 1e9

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@dataclass
class Watch:
    """The client, in a thread of its own while a `with` block runs. At the end of the block the
    last answer is read to its end.

    What the process holds when the block begins is left out of garbage collections until its end:
    a collection over all that a suite of tests holds keeps the client from reading for a second,
    which would count as a gap of the server.

    `counts` are the least and the greatest number of strings that an answer has. `texts` are the
    whole answers so far; `faults` say what went wrong with others.
    """

    url: str
    counts: tuple[int, int] = LONG
    gaps: list[Gap] = field(default_factory=list[Gap])
    texts: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._last = time.monotonic()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watch:
        gc.freeze()
        self._last = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(2 * PATIENCE)
        gc.unfreeze()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema that every answer satisfies."""
        return towns(self.counts)

    def body(self, seed: int) -> dict[str, Any]:
        """The request whose answer has this seed."""
        shape = {"name": "towns", "schema": self.schema}
        return {
            "model": "demo",
            "messages": [{"role": "user", "content": "List towns."}],
            "temperature": 1,
            "seed": seed,
            "stream": True,
            "response_format": {"type": "json_schema", "json_schema": shape},
        }

    def during(self, begin: float, end: float) -> list[Gap]:
        """The gaps that overlap a time."""
        return [gap for gap in self.gaps if gap.begin < end and gap.begin + gap.seconds > begin]

    def wait_past(self, moment: float, patience: float = PATIENCE) -> None:
        """Return once text has come after `moment`, so that no gap of it is still open."""
        end = time.monotonic() + patience
        while self._last <= moment and time.monotonic() < end and self._thread.is_alive():
            time.sleep(0.002)

    def wait_for_answers(self, count: int, patience: float = PATIENCE) -> None:
        """Return once so many answers are whole: what the server knows of the shape by then is
        all that it will know."""
        end = time.monotonic() + patience
        while len(self.texts) < count and time.monotonic() < end and not self.faults:
            time.sleep(0.01)

    def _run(self) -> None:
        with closing(Waits()) as self._waits:
            number = 0
            while not self._stopping.is_set():
                try:
                    self._stream(number)
                except (OSError, http.client.HTTPException, ValueError) as error:
                    self.faults.append(f"{type(error).__name__}: {error}")
                    time.sleep(0.2)
                number += 1

    def _stream(self, seed: int) -> None:
        host, port = address(self.url)
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
        headers = {"Content-Type": "application/json"}
        try:
            self._last, self._waited = time.monotonic(), self._waits.seconds()
            connection.request("POST", "/v1/chat/completions", json.dumps(self.body(seed)), headers)
            response = connection.getresponse()
            if response.status != 200:
                raise ValueError(f"status {response.status}: {response.read()[:300]!r}")
            self._read(response)
        finally:
            connection.close()

    def _read(self, response: http.client.HTTPResponse) -> None:
        text, finish = "", None
        while line := response.readline():
            if not line.startswith(b"data: {"):
                continue
            now = time.monotonic()
            event: dict[str, Any] = json.loads(line[6:])
            if "error" in event:
                raise ValueError(f"ended by {event['error']}")
            choice = event["choices"][0]
            finish = choice.get("finish_reason") or finish
            if piece := choice["delta"].get("content"):
                waited = self._waits.seconds()
                self.gaps.append(Gap(self._last, now - self._last, waited - self._waited))
                self._last, self._waited = now, waited
                text += piece
        if finish is None:
            raise ValueError("the stream ended without a finish reason")
        self.texts.append(text)


def longest_ms(gaps: Sequence[Gap]) -> float:
    """The longest of some gaps, in milliseconds; 0 if there is none."""
    return 1e3 * max((gap.seconds for gap in gaps), default=0.0)


def unserved_ms(gaps: Sequence[Gap]) -> float:
    """The longest of some gaps without what the client waited for a processor in them, in
    milliseconds; 0 if there is none."""
    return 1e3 * max((gap.unserved for gap in gaps), default=0.0)


def p99_ms(gaps: Sequence[Gap]) -> float:
    """What 99 % of some gaps don't exceed, in milliseconds; 0 if there is none."""
    return 1e3 * percentile(sorted(gap.seconds for gap in gaps), 99) if gaps else 0.0
