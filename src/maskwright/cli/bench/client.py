"""Which requests are sent, and when: a pattern of arrivals over a matrix of cells; clients that
send each request at its time, however many are still unanswered; and points of the operating
envelope: how the requests of one pattern and rate ended, and the picture of all points, with
goodput and the time to the first token over the rate.

Whether answers have the shapes that are asked for is checked without a grammar, independently of
what generated them.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Literal, TypeAlias

import httpx

from maskwright.cli.output.chart import Line, LineChart, draw_charts
from maskwright.cli.process.reaching import ClientArguments
from maskwright.immutable import Immutable
from maskwright.json_faults import object_in

ShapeName: TypeAlias = Literal["none", "schema", "regex"]


class AskedShape(Immutable):
    """The `response_format` of a request (None for free text) and the check of its answer."""

    response_format: dict[str, object] | None
    holds: Callable[[str], bool]


FIELDS: dict[str, type] = {"name": str, "age": int, "member": bool}

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "member": {"type": "boolean"},
    },
    "required": list(FIELDS),
    "additionalProperties": False,
}

PATTERN = "[A-Z]{2}-[0-9]{4}(-[a-z]{3})?"


def _is_person(text: str) -> bool:
    person = object_in(text)
    return (
        person is not None
        and list(person) == list(FIELDS)
        and all(type(person[name]) is kind for name, kind in FIELDS.items())
        and len(person["name"]) <= 20
        and 0 <= person["age"] <= 120
    )


SHAPES: dict[ShapeName, AskedShape] = {
    "none": AskedShape(None, lambda _: True),
    "schema": AskedShape(
        {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}, _is_person
    ),
    "regex": AskedShape(
        {"type": "regex", "regex": PATTERN}, lambda text: re.fullmatch(PATTERN, text) is not None
    ),
}


PatternName: TypeAlias = Literal["steady", "burst", "adversarial"]

BURST = 8
"""The number of requests in a burst, which are sent together."""

WORDS = ("the", "old", "harbour", "sells", "fresh", "fish", "every", "morning")


class Cell(Immutable):
    """A kind of request: `words` in its prompt, at most `cap` tokens in its answer, its class of
    service (empty if none is named), its temperature and the shape of its answer."""

    words: int
    cap: int
    service: str
    temperature: float
    shape: ShapeName

    def body(self, seed: int) -> dict[str, object]:
        """The body of a streaming chat request. No two prompts have a common beginning, so that the
        server's prefix cache holds none of them."""
        rng = random.Random(seed)
        text = " ".join([f"{seed:x}", *(rng.choice(WORDS) for _ in range(self.words - 1))])
        body: dict[str, object] = {
            "model": "any",
            "messages": [{"role": "user", "content": text}],
            "max_tokens": self.cap,
            "temperature": self.temperature,
            "seed": seed,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self.service:
            body["maskwright"] = {"service": self.service}
        if SHAPES[self.shape].response_format is not None:
            body["response_format"] = SHAPES[self.shape].response_format
        return body


def matrix(
    words: Sequence[int],
    caps: Sequence[int],
    services: Sequence[str],
    temperatures: Sequence[float],
    shapes: Sequence[ShapeName],
) -> list[Cell]:
    """The cell of every combination."""
    return [Cell(*values) for values in product(words, caps, services, temperatures, shapes)]


def arrivals(
    pattern: PatternName, rate: float, seconds: float, cells: Sequence[Cell], rng: random.Random
) -> list[tuple[float, Cell]]:
    """The time of each request in seconds, with its cell; `rate` requests a second on average.

    Steady: at equal distances, through all cells in random order. Burst: in random order too, eight
    at once. Adversarial: bursts in which the longest prompts with the shortest answers alternate
    with the shortest prompts with the longest answers, so that prefills delay decodes.
    """
    count = max(1, round(rate * seconds))
    size = 1 if pattern == "steady" else BURST
    times = [(number // size) * size / rate for number in range(count)]
    if pattern == "adversarial":
        most, least = max(c.words for c in cells), min(c.words for c in cells)
        long = [c for c in cells if c.words == most and c.cap == min(c.cap for c in cells)]
        short = [c for c in cells if c.words == least and c.cap == max(c.cap for c in cells)]
        chosen = [rng.choice(short if number % 2 else long) for number in range(count)]
    else:
        chosen = [
            cell for _ in range(-(-count // len(cells))) for cell in rng.sample(cells, len(cells))
        ]
    return list(zip(times, chosen, strict=False))


End: TypeAlias = Literal["answered", "refused", "failed", "unfinished"]
"""`refused`: answered with status 429. `unfinished`: still being answered when the time was up."""


@dataclass(slots=True)
class Outcome:
    """One request and its answer. Times are seconds.

    `ttft` counts from the moment at which the request was due, so that a client that sends late
    doesn't hide time from the measurement. `gaps` are the times between two pieces of text.
    `retry_after` is what a refusal said. `valid`: the answer has the shape that was asked for.
    """

    cell: Cell
    end: End = "unfinished"
    reason: str = ""
    ttft: float | None = None
    seconds: float | None = None
    gaps: list[float] = field(default_factory=list[float])
    tokens: int = 0
    prompt_tokens: int = 0
    retry_after: float | None = None
    valid: bool = False

    @property
    def tpot(self) -> float | None:
        """Mean time of a token after the first piece of text, in seconds."""
        if self.ttft is None or self.seconds is None or self.tokens < 2:
            return None
        return (self.seconds - self.ttft) / (self.tokens - 1)


async def offer(
    url: str,
    load: Sequence[tuple[float, Cell]],
    drain: float,
    seed: int,
    connection: ClientArguments,
) -> list[Outcome]:
    """Send every request at its time; after the last, wait up to `drain` seconds for answers.
    `connection`: how the server is asked."""
    outcomes = [Outcome(cell) for _, cell in load]
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    timeout = httpx.Timeout(None, connect=10.0)
    async with httpx.AsyncClient(
        base_url=url, limits=limits, timeout=timeout, **connection
    ) as client:
        begin = time.monotonic()
        tasks = [
            asyncio.create_task(_ask(client, outcome, begin + at, seed + number))
            for number, ((at, _), outcome) in enumerate(zip(load, outcomes, strict=True))
        ]
        _, late = await asyncio.wait(tasks, timeout=load[-1][0] + drain)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
    return outcomes


async def _ask(client: httpx.AsyncClient, outcome: Outcome, due: float, seed: int) -> None:
    await asyncio.sleep(max(0.0, due - time.monotonic()))
    body = outcome.cell.body(seed)
    try:
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            if response.status_code == 200:
                await _read(outcome, response, due)
                return
            await response.aread()
            outcome.end = "refused" if response.status_code == 429 else "failed"
            outcome.reason = f"{response.status_code} {response.text[:300]}"
            if "retry-after" in response.headers:
                outcome.retry_after = float(response.headers["retry-after"])
    except httpx.HTTPError as error:
        outcome.end, outcome.reason = "failed", type(error).__name__


async def _read(outcome: Outcome, response: httpx.Response, due: float) -> None:
    text, last, finish = "", 0.0, None
    async for line in response.aiter_lines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        event: dict[str, Any] = json.loads(line.removeprefix("data: "))
        if "error" in event:
            outcome.end, outcome.reason = "failed", json.dumps(event["error"])[:300]
            return
        for choice in event.get("choices", ()):
            finish = choice.get("finish_reason") or finish
            piece = choice["delta"].get("content")
            if piece:
                now = time.monotonic() - due
                if outcome.ttft is None:
                    outcome.ttft = now
                else:
                    outcome.gaps.append(now - last)
                text, last = text + piece, now
        if event.get("usage"):
            outcome.tokens = event["usage"]["completion_tokens"]
            outcome.prompt_tokens = event["usage"]["prompt_tokens"]
    outcome.seconds = time.monotonic() - due if outcome.ttft is None else last
    if finish is None:
        outcome.end, outcome.reason = "failed", "the stream ended early"
    else:
        outcome.end, outcome.valid = "answered", SHAPES[outcome.cell.shape].holds(text)


SHARES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Objective:
    """Upper bounds for a good answer: seconds until the first token, and for each one after it."""

    ttft: float
    tpot: float

    def met(self, outcome: Outcome) -> bool:
        """Whether the request was answered in its shape and in time."""
        return (
            outcome.end == "answered"
            and outcome.valid
            and (outcome.ttft or 0.0) <= self.ttft
            and (outcome.tpot or 0.0) <= self.tpot
        )


@dataclass(frozen=True, slots=True)
class Point:
    """`rate` is in requests a second, `goodput` in answers a second that met the objective. `ends`
    counts requests by how they ended. `ttft`, `tpot` and `gap` are percentiles 50, 95 and 99 in
    seconds, NaN where nothing was measured. `shaped` answers were asked to have a shape, which
    `valid` of them had."""

    pattern: PatternName
    rate: float
    sent: int
    goodput: float
    ends: dict[str, int]
    ttft: tuple[float, ...]
    tpot: tuple[float, ...]
    gap: tuple[float, ...]
    tokens_a_second: float
    shaped: int
    valid: int

    def row(self) -> dict[str, object]:
        """The point as a JSON object, with null for what was not measured."""
        row = asdict(self)
        for name in ("ttft", "tpot", "gap"):
            values: Sequence[float] = row.pop(name)
            for share, value in zip(SHARES, values, strict=True):
                row[f"{name}_p{share}"] = None if math.isnan(value) else value
        return row


def summarize(
    pattern: PatternName, rate: float, seconds: float, outcomes: Sequence[Outcome], aim: Objective
) -> Point:
    """Return the point of the requests `outcomes`, which were sent within `seconds`."""
    answered = [one for one in outcomes if one.end == "answered"]
    shaped = [one for one in answered if one.cell.shape != "none"]
    whole = max([seconds, *(one.seconds or 0.0 for one in answered)])
    return Point(
        pattern,
        rate,
        len(outcomes),
        sum(map(aim.met, outcomes)) / seconds,
        dict(Counter(one.end for one in outcomes)),
        _percentiles([one.ttft for one in answered if one.ttft is not None]),
        _percentiles([tpot for one in answered if (tpot := one.tpot) is not None]),
        _percentiles([gap for one in answered for gap in one.gaps]),
        sum(one.tokens for one in answered) / whole,
        len(shaped),
        sum(one.valid for one in shaped),
    )


def _percentiles(values: list[float]) -> tuple[float, ...]:
    """Percentiles by the nearest rank."""
    if not values:
        return (math.nan,) * len(SHARES)
    values.sort()
    return tuple(values[max(0, math.ceil(len(values) * share / 100) - 1)] for share in SHARES)


COLOURS = {"steady": "#1b6ca8", "burst": "#c8691c", "adversarial": "#7a3b8f"}
IDEAL = "#999"


def draw(points: Sequence[Point], title: str) -> str:
    """Draw, over the rate of requests, how many answers a second were good, and within which time
    the first token came for 95 of 100."""
    own: dict[PatternName, list[Point]] = {point.pattern: [] for point in points}
    for point in sorted(points, key=lambda point: point.rate):
        own[point.pattern].append(point)
    most = max(point.rate for point in points)
    ideal = Line("every request", [(0.0, 0.0), (most, most)], is_dashed=True, colour=IDEAL)
    good = [Line(n, [(p.rate, p.goodput) for p in own[n]], colour=COLOURS[n]) for n in own]
    late = [Line(n, [(p.rate, p.ttft[1]) for p in own[n]], colour=COLOURS[n]) for n in own]
    axis = "requests a second"
    charts = (
        LineChart("good answers a second", axis, [ideal, *good]),
        LineChart("seconds to the first token, p95", axis, late),
    )
    return draw_charts(charts, title)
