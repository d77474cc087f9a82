"""One hostile shape sent to a server beside a watched stream, and what came of it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import httpx

from maskwright.limits import Limits
from tests.hostile.answers import UNCHECKED, VALID, verdict
from tests.hostile.process import ServerProcess
from tests.hostile.pulse import WORK, Pulse
from tests.hostile.shape import LIMIT, READY, HostileShape
from tests.hostile.watch import Gap, Watch, longest_ms, p99_ms, unserved_ms

SILENT: Final = "no answer"
LOST: Final = "connection lost"
_LIMITS: Final = frozenset(field.name for field in fields(Limits))


@dataclass(frozen=True)
class Reply:
    """What a client got: READY or the code of an error, its status and message, and the message of
    the model."""

    outcome: str
    status: int = 0
    said: str = ""
    message: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Trial:
    """One shape and what came of it. Gaps are those of the watched stream while the shape was
    worked on, and `late` is how late the pulse was then, in seconds; `resident_bytes` is measured
    after the answer."""

    shape: HostileShape
    reply: Reply
    verdict: str
    seconds: float
    gaps: list[Gap]
    late: Sequence[float]
    resident_bytes: int

    @property
    def fault(self) -> str | None:
        """What is wrong, or None: an outcome that is not among the shape's, an answer that is not
        of the shape, a refusal that doesn't name its limit."""
        reply = self.reply
        if reply.outcome not in self.shape.outcomes:
            allowed = ", ".join(sorted(self.shape.outcomes))
            return f"{reply.outcome} ({reply.status}) instead of {allowed}: {reply.said[:300]}"
        if reply.outcome == READY and self.verdict not in (VALID, UNCHECKED):
            return f"a wrong answer: {self.verdict}"
        if reply.outcome == LIMIT and not names_a_limit(reply.said):
            return f"the refusal doesn't name its limit: {reply.said[:300]}"
        return None

    @property
    def longest_ms(self) -> float:
        return longest_ms(self.gaps)

    @property
    def unserved_ms(self) -> float:
        """The longest time in which the watched stream had nothing to read."""
        return unserved_ms(self.gaps)

    @property
    def p99_ms(self) -> float:
        return p99_ms(self.gaps)

    @property
    def machine_ms(self) -> float:
        """How late the machine let a process work that needs little, at the most."""
        return 1e3 * max(self.late, default=0.0)

    @property
    def slowdown(self) -> float:
        """How many times as long as its processor time the pulse's work took, on average."""
        return 1 + sum(self.late) / (WORK * max(1, len(self.late)))

    @property
    def megabytes(self) -> float:
        return self.resident_bytes / 1e6


def names_a_limit(message: str) -> bool:
    """Whether a message names a limit: a field of `Limits`, or an option of the server."""
    named = re.findall(r"limit '(\w+)'", message)
    return any(name in _LIMITS or name.startswith("shape_") for name in named)


def attempt(
    server: ServerProcess,
    watch: Watch,
    pulse: Pulse,
    shape: HostileShape,
    patience: float,
    least: float = 0.5,
) -> Trial:
    """Send a shape and wait `patience` seconds for its answer. Gaps are watched for `least` seconds
    or until the answer is there."""
    content = json.dumps(shape.body).encode()
    watch.wait_past(time.monotonic())
    begin = time.monotonic()
    reply = ask(server.url, content, shape.stream, patience)
    seconds = time.monotonic() - begin
    time.sleep(max(0.0, least - seconds))
    end = time.monotonic()
    watch.wait_past(end)
    gaps = watch.during(begin, end)
    late = pulse.during(begin, end)
    judged = "" if reply.message is None else verdict(shape, reply.message)
    return Trial(shape, reply, judged, seconds, gaps, late, server.resident_bytes())


def ask(url: str, content: bytes, stream: bool, patience: float) -> Reply:
    """Send a request's body; what the client gets within `patience` seconds."""
    headers = {"Content-Type": "application/json"}
    end = time.monotonic() + patience
    try:
        with httpx.stream(
            "POST", f"{url}/v1/chat/completions", content=content, headers=headers, timeout=patience
        ) as response:
            if stream and response.status_code == 200:
                return _streamed(response, end)
            response.read()
            return _whole(response)
    except httpx.TimeoutException:
        return Reply(SILENT, said=f"nothing within {patience:g} s")
    except httpx.HTTPError as error:
        return Reply(LOST, said=f"{type(error).__name__}: {error}")


def _whole(response: httpx.Response) -> Reply:
    status = response.status_code
    try:
        body = response.json()
    except ValueError:
        return Reply("no JSON", status, response.text[:300])
    if status != 200:
        return _error(status, body)
    return Reply(READY, status, message=body["choices"][0]["message"])


def _streamed(response: httpx.Response, end: float) -> Reply:
    """Read a stream to its end: its text, or the error that ended it."""
    text, finish = "", None
    calls: dict[int, dict[str, Any]] = {}
    for line in response.iter_lines():
        if time.monotonic() > end:
            return Reply(SILENT, 200, "the stream did not end in time")
        if not line.startswith("data: {"):
            continue
        event = json.loads(line.removeprefix("data: "))
        if "error" in event:
            return _error(response.status_code, event)
        choice = event["choices"][0]
        finish = choice.get("finish_reason") or finish
        text += choice["delta"].get("content") or ""
        for part in choice["delta"].get("tool_calls") or ():
            call = calls.setdefault(part["index"], {"name": "", "arguments": ""})
            call["name"] += part["function"].get("name") or ""
            call["arguments"] += part["function"].get("arguments") or ""
    if finish is None:
        return Reply(LOST, 200, "the stream ended without a finish reason")
    found = [{"function": call} for call in calls.values()]
    return Reply(READY, 200, message={"content": text, "tool_calls": found})


def _error(status: int, body: Mapping[str, Any]) -> Reply:
    error = body.get("error", {})
    return Reply(str(error.get("code")), status, str(error.get("message")))
