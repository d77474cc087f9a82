"""A JSON trace of each choice of each request: times and counts of the engine, and of sending the
answer to the client; a file of them, and the last ones. docs/api.md describes each field."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from maskwright.errors import InputError
from maskwright.server.json import Json

if TYPE_CHECKING:  # a file of traces is opened before torch and the engine are imported
    from maskwright.engine import Trace
    from maskwright.server.exchange import Exchange


@dataclass(frozen=True, slots=True)
class RequestTrace:
    """Choice number `index` of one exchange, whose generation has ended."""

    exchange: Exchange
    index: int
    engine: Trace

    @property
    def client_ttft(self) -> float | None:
        """Seconds from the request until its first text was sent; None if it isn't streamed."""
        sent = self.exchange.sent.get(self.index)
        return None if sent is None else sent.first_at - self.exchange.started

    @property
    def streaming(self) -> float | None:
        """Seconds between the first text and the last."""
        sent = self.exchange.sent.get(self.index)
        return None if sent is None else sent.last_at - sent.first_at

    @property
    def client_tpot(self) -> float | None:
        """Mean seconds for each token after the first text."""
        sent, seconds = self.exchange.sent.get(self.index), self.streaming
        if sent is None or not seconds:
            return None
        after = self.engine.completion_tokens - sent.first_tokens
        return seconds / after if after > 0 else None

    def body(self) -> Json:
        """The trace as a flat JSON object."""
        asked = self.exchange
        # Without copies of the values, which are numbers and strings.
        engine = {field.name: getattr(self.engine, field.name) for field in fields(self.engine)}
        server = asked.served_by
        waited = engine.pop("compile_ms")
        return {
            "request_id": asked.request_id,
            "traceparent": asked.traceparent,
            "key": asked.key,
            "received": asked.received,
            "route": asked.route,
            "model": asked.model,
            "stream": asked.stream,
            "index": self.index,
            "choices": len(asked.generations),
            "shape": asked.shape,
            "grammar": asked.grammar,
            "grammar_digest": asked.grammar_digest,
            "weights": None if server is None else server.weights,
            "vocabulary": None if server is None else server.vocabulary,
            "system_fingerprint": None if server is None else server.fingerprint,
            "compile_ms": waited if asked.compiling is None else 1000 * asked.compiling,
            "render_ms": _ms(asked.rendering),
            **engine,
            "stream_ms": _ms(self.streaming),
            "client_ttft_ms": _ms(self.client_ttft),
            "client_tpot_ms": _ms(self.client_tpot),
            "request_ms": 1000 * (asked.seconds or time.monotonic() - asked.started),
        }

    def recording(self) -> Json:
        """What `maskwright replay` needs beside the trace: the body of the request, the settings of
        the server, and the token ids of prompt and answer."""
        asked = self.exchange
        each = len(asked.generations) // len(asked.prompts)
        return {
            "request": asked.body,
            "settings": None if asked.served_by is None else asked.served_by.settings,
            "prompt_token_ids": list(asked.prompts[self.index // each]),
            "output_token_ids": list(asked.generations[self.index].output),
        }


TraceSink: TypeAlias = Callable[[RequestTrace], None]
"""Receives each trace. It is called from any thread and must return quickly."""


class TraceFile:
    """Appends traces to a file as JSON lines. Can be used from any thread."""

    def __init__(self, path: str, *, requests: bool = False) -> None:
        """`requests`: add what `maskwright replay` needs, with the texts of requests and answers.
        Raises InputError if the file can't be written."""
        self._requests = requests
        try:
            self._file = Path(path).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115
        except OSError as error:
            raise InputError(
                f"can't write traces to {path}: {error.strerror}", param="trace"
            ) from None
        self._lock = threading.Lock()

    def __call__(self, trace: RequestTrace) -> None:
        fields = trace.body() | (trace.recording() if self._requests else {})
        line = json.dumps(fields, ensure_ascii=False) + "\n"
        with self._lock:
            self._file.write(line)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


MOST_ANSWERS: Final = 100

NAMES: Final = frozenset({"request_id", "traceparent", "key"})
"""Fields that only the holder of the request's own key may read."""

FIELDS: Final = (
    *("request_id", "key", "received", "route", "stream", "index", "choices", "shape", "grammar"),
    *("service", "adapter", "finish_reason", "shortened_at", "error", "prompt_tokens"),
    *("cached_tokens", "completion_tokens", "sampled_tokens", "forced_tokens", "drafted_tokens"),
    *("accepted_tokens", "steps", "preemptions", "kv_blocks_peak", "mask_rows", "mask_hits"),
    *("mask_ms", "questions", "late_rows", "late_ms", "preempted_ms", "compile_ms", "render_ms"),
    *("queue_ms", "prefill_ms", "decode_ms", "paused_ms", "total_ms", "ttft_ms", "tpot_ms"),
    *("longest_gap_ms", "client_ttft_ms", "stream_ms", "request_ms"),
)
"""Fields of a trace that are kept."""


class RecentAnswers:
    """A sink of traces that keeps the last ones. Can be used from any thread."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._kept: deque[tuple[int, Json]] = deque(maxlen=MOST_ANSWERS)
        self._lock = threading.Lock()

    def __call__(self, trace: RequestTrace) -> None:
        body = trace.body()
        record = trace.exchange.generations[trace.index].record
        kept: Json = {name: body[name] for name in FIELDS}
        kept["step_ms"] = [round(1000 * at, 2) for at in record.given_at]
        kept["step_tokens"] = record.given.tolist()
        with self._lock:
            count = next(self._numbers)
            self._kept.append((count, {"number": count, **kept}))

    def after(self, number: int, key: str | None) -> list[Json]:
        """Return the answers with greater numbers, oldest first. Those of other keys than `key` are
        without their names."""
        with self._lock:
            newest = [one for count, one in self._kept if count > number]
        return [
            one if one["key"] == key else {name: one[name] for name in one.keys() - NAMES}
            for one in newest
        ]


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
