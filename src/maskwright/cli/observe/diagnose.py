"""Say from traces which stage makes the slowest requests slow, and whether the server keeps up.

`maskwright serve --trace traces.jsonl` writes the file, a line for each answer. The slowest
requests are compared with the middle half of all; the stage with the largest excess is named.
Little's law (requests in the system = rate of arrivals times time in the system) is checked too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from maskwright.cli.input.texts import bytes_of
from maskwright.cli.options import JSON_HELP
from maskwright.cli.output.appearance import remark, shown_json
from maskwright.cli.output.chart import BarChart, Chart, draw_charts
from maskwright.cli.output.files import open_picture
from maskwright.cli.output.tables import Row, lay_out, output_width, paragraph
from maskwright.errors import InputError
from maskwright.json_faults import json_reason
from maskwright.settings import argument, option

TraceFields: TypeAlias = Mapping[str, Any]
"""The fields of one choice, which docs/api.md describes."""

NEEDED = ("request_id", "received", "request_ms", "total_ms", "queue_ms")


def read_traces(path: str) -> list[TraceFields]:
    """Return the choices in a file, or in standard input for '-'. Raises InputError that names the
    line of what is no trace; a last line without its end that is not JSON is left out with a
    remark, because the server may be writing it."""
    lines = bytes_of(path).decode("utf-8", "replace").split("\n")
    name = "standard input" if path == "-" else Path(path).name
    traces: list[TraceFields] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            fields: object = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                remark(f"{place}: left out, since the line has no end yet")
                break
            reason = json_reason(error, one_line=True)
            raise InputError(f"{place}: not JSON: {reason}") from None
        if not isinstance(fields, dict):
            raise InputError(f"{place}: not a JSON object, so no trace")
        found = cast(TraceFields, fields)
        missing = [each for each in NEEDED if not isinstance(found.get(each), int | float | str)]
        if missing:
            raise InputError(f"{place}: no trace of a request: {missing[0]} is missing")
        traces.append(found)
    return traces


STAGES: Final[Mapping[str, str]] = {
    "compile": "waiting for its shape to be compiled",
    "queue": "waiting in the queue",
    "prefill": "computing the prompt",
    "decode": "decoding",
    "masks": "waiting for masks from a grammar process",
    "preemption": "having lost its blocks to others (preemption)",
    "reader": "waiting for a slow reader",
    "server": "in the server before and after the engine",
}
"""The stages, in the order in which a request passes them, and what a request does in each."""


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """One request: its slowest choice stands for it. `received` is in seconds since 1970, all times
    are in milliseconds, and `stages` has one for each of `STAGES`; they add up to `whole`."""

    request_id: str
    received: float
    whole: float
    stages: Mapping[str, float]
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    preemptions: int
    questions: int


def timed_requests(traces: Iterable[TraceFields]) -> list[TimedRequest]:
    """Return the requests of some choices, in the order of their arrival."""
    slowest: dict[str, TraceFields] = {}
    for trace in traces:
        known = slowest.get(trace["request_id"])
        if known is None or trace["total_ms"] > known["total_ms"]:
            slowest[trace["request_id"]] = trace
    return sorted(map(_timed, slowest.values()), key=lambda one: one.received)


def _timed(trace: TraceFields) -> TimedRequest:
    def number(name: str) -> float:  # 0 if the request ended before that part of it began
        return float(trace.get(name) or 0.0)

    # Waits for masks and preemptions are parts of prefill and decoding; they are taken off
    # decoding first, where most of them are.
    late, preempted = number("late_ms"), number("preempted_ms")
    prefill, decode = number("prefill_ms"), number("decode_ms")
    stages = {
        "compile": number("compile_ms"),
        "queue": number("queue_ms"),
        "prefill": max(0.0, prefill - max(0.0, late + preempted - decode)),
        "decode": max(0.0, decode - late - preempted),
        "masks": late,
        "preemption": preempted,
        "reader": number("paused_ms"),
    }
    # The request of several choices lasts until the last of them, which is this one.
    whole = max(number("request_ms"), sum(stages.values()))
    stages["server"] = rest = whole - sum(stages.values())
    if trace.get("stream"):
        # What it spent in the server after its first text was sent, it waited for its reader.
        engine = stages["compile"] + stages["queue"] + prefill
        stages["server"] = min(rest, max(0.0, number("client_ttft_ms") - engine))
        stages["reader"] += rest - stages["server"]
    counts = ("prompt_tokens", "cached_tokens", "completion_tokens", "preemptions", "questions")
    return TimedRequest(
        request_id=trace["request_id"],
        received=trace["received"],
        whole=whole,
        stages=stages,
        **{name: int(number(name)) for name in counts},
    )


FEWEST: Final = 4
"""Requests without which there is no middle half."""

ADVICE: Final[Mapping[str, str]] = {
    "compile": "Send a request of each shape after a start, so that its grammar is kept; "
    "`maskwright check` says how large a shape is.",
    "queue": "More requests arrive than are served: add a server, raise --max-running if "
    "blocks are free, or give classes an objective (--ttft), so that requests are refused early.",
    "prefill": "Put what prompts share at their beginning, so that the prefix cache finds it; "
    "raise --max-batch-tokens or --stall if decoding may wait for it.",
    "decode": "Lower max_tokens where answers needn't be long; where tokens come slowly, fewer "
    "requests at a time (--max-running) or a draft model help.",
    "masks": "Masks came after the logits, as they do in the first answers of a shape: send a "
    "request of each shape after a start. `maskwright trace` shows the costly places of a shape, "
    "and more --grammar-processes share the work of several.",
    "preemption": "Blocks ran out: see maskwright_kv_use; raise --kv-bytes, store keys and "
    "values as int8 (--kv-dtype), or lower --max-running.",
    "reader": "The clients read too slowly, not the server: look at the network and at what "
    "they do between two events; --reader-tokens lets them be further behind.",
    "server": "Time outside the engine: rendering of prompts, many HTTP requests at a time, or "
    "clients that send their bodies slowly.",
}


@dataclass(frozen=True, slots=True)
class GroupTimes:
    """The means of some requests: times in milliseconds, and tokens."""

    requests: int
    whole: float
    stages: Mapping[str, float]
    prompt_tokens: float
    computed_prompt_tokens: float
    completion_tokens: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the slowest requests spend their time on, compared with the middle half of all.

    `culprit`: the stage with the largest excess of the slowest over the middle half, and `excess`
    what all stages have; where that is decoding, and the slowest wait for masks at least as long,
    it is the masks. `preempted`: how many of the slowest were preempted."""

    requests: int
    share: float
    middle: GroupTimes
    slowest: GroupTimes
    excess: Mapping[str, float]
    culprit: str
    preempted: int
    longest: tuple[TimedRequest, ...]
    littles_law: LittlesLaw | None


def diagnose_requests(requests: Sequence[TimedRequest], share: float) -> Diagnosis:
    """Diagnose the slowest `share` percent of some requests, in the order of their arrival. Raises
    InputError if there are too few."""
    if len(requests) < FEWEST:
        raise InputError(f"{len(requests)} requests are too few; at least {FEWEST} are needed")
    ranked = sorted(requests, key=lambda one: one.whole)
    tail = ranked[-max(1, math.ceil(len(ranked) * share / 100)) :]
    quarter = len(ranked) // 4
    middle, slowest = group_times(ranked[quarter : len(ranked) - quarter]), group_times(tail)
    excess = {name: slowest.stages[name] - middle.stages[name] for name in STAGES}
    culprit = max(STAGES, key=lambda name: excess[name])
    # Who waits for masks as long as for the model is not helped by what makes decoding faster.
    if culprit == "decode" and slowest.stages["masks"] >= slowest.stages["decode"]:
        culprit = "masks"
    return Diagnosis(
        requests=len(requests),
        share=share,
        middle=middle,
        slowest=slowest,
        excess=excess,
        culprit=culprit,
        preempted=sum(one.preemptions > 0 for one in tail),
        longest=tuple(reversed(tail)),
        littles_law=check_littles_law(requests),
    )


def group_times(requests: Sequence[TimedRequest]) -> GroupTimes:
    """Return the means of some requests, at least one."""

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    return GroupTimes(
        requests=len(requests),
        whole=mean([one.whole for one in requests]),
        stages={name: mean([one.stages[name] for one in requests]) for name in STAGES},
        prompt_tokens=mean([one.prompt_tokens for one in requests]),
        computed_prompt_tokens=mean([one.prompt_tokens - one.cached_tokens for one in requests]),
        completion_tokens=mean([one.completion_tokens for one in requests]),
    )


MOST_BARS: Final = 8
ID_LETTERS: Final = 40


def diagnosis_charts(found: Diagnosis) -> list[Chart]:
    """Draw the means of the middle half and of the slowest, and each of the slowest by itself."""
    groups = [
        (f"middle half ({found.middle.requests})", found.middle.stages),
        (f"slowest {found.share:g} % ({found.slowest.requests})", found.slowest.stages),
    ]
    each = [(one.request_id[:ID_LETTERS], one.stages) for one in found.longest[:MOST_BARS]]
    return [
        BarChart(title, list(STAGES), [(n, [s[k] for k in STAGES]) for n, s in rows], "ms")
        for title, rows in (("mean time of a request", groups), ("the slowest requests", each))
    ]


WORTH_SAYING: Final = 0.1
"""Share of the whole from which on a stage is mentioned beside the largest one."""


@dataclass(frozen=True, slots=True)
class DiagnoseOptions:
    """What `maskwright diagnose` is given."""

    traces: str = argument("File of traces, or '-' for standard input.")
    share: float = option(
        1.0, "Percent of the requests that count as slowest.", least=0.01, most=50
    )
    service: str | None = option(None, "Look only at requests of this class of service.")
    plot: str | None = option(None, "SVG file to which the stages of the slowest are drawn.")
    as_json: bool = option(False, JSON_HELP, flag="--json")


def run(options: DiagnoseOptions) -> None:
    lines = [
        t
        for t in read_traces(options.traces)
        if options.service is None or t.get("service") == options.service
    ]
    found = diagnose_requests(timed_requests(lines), options.share)
    target = None if options.plot is None else open_picture(options.plot)
    if options.as_json:
        advised = {"verdict": verdict(found), "advice": ADVICE[found.culprit]}
        print(shown_json({**asdict(found), **advised}))
    else:
        print(diagnosis_text(found, output_width()))
    if target is not None:
        title = f"The slowest requests: most of the difference is {STAGES[found.culprit]}"
        target.write_text(draw_charts(diagnosis_charts(found), title))


def verdict(found: Diagnosis) -> str:
    """Which stage dominates the tail, in one sentence."""
    slow, middle, name = found.slowest, found.middle, found.culprit
    return (
        f"The slowest {slow.requests:,} of {found.requests:,} requests take {_ms(slow.whole)} on "
        f"average, the middle half {_ms(middle.whole)}; most of the difference is {STAGES[name]}: "
        f"{_ms(slow.stages[name])} against {_ms(middle.stages[name])}."
    )


def diagnosis_text(found: Diagnosis, width: int) -> str:
    """The diagnosis as sentences and a table, in lines of at most `width` characters."""
    texts = [verdict(found), *_details(found), ADVICE[found.culprit]]
    if found.littles_law is not None:
        texts.append(law_text(found.littles_law))
    middle, slowest = found.middle, found.slowest
    times = [(n, middle.stages[n], slowest.stages[n], found.excess[n]) for n in STAGES]
    times.append(("all", middle.whole, slowest.whole, slowest.whole - middle.whole))
    rows: list[Row] = [
        {
            "stage": name,
            "middle ms": round(usual, 1),
            "slowest ms": round(slow, 1),
            "excess ms": round(excess, 1) + 0.0,  # no -0
        }
        for name, usual, slow, excess in times
    ]
    return "\n".join(paragraph(text, width) for text in texts) + f"\n\n{lay_out(rows, width)}"


def law_text(law: LittlesLaw) -> str:
    """What Little's law says, with its numbers."""
    sums = (
        f"Little's law: {law.rate:.3g} requests a second × {law.mean_seconds:.3g} s = "
        f"{law.product:.3g} in the system; counted {law.counted:.3g}, at most {law.most}"
    )
    said: dict[Stability, str] = {
        "holds": "The law holds: the server keeps up.",
        "grows": f"The queue grows: requests of the last quarter take {law.growth:.1f} times as "
        "long as in the second. More arrive than the server serves.",
        "too short": f"{law.seconds:.3g} s of arrivals are too short to say whether it holds.",
        "differs": "The two differ: requests are missing from the file, or the clock was set.",
    }
    return f"{sums}. {said[law.verdict]}"


def _details(found: Diagnosis) -> list[str]:
    """What explains the culprit further, where a trace says it."""
    slow, middle = found.slowest, found.middle
    match found.culprit:
        case "decode":
            slow_ms, middle_ms = (
                group.stages["decode"] / max(1.0, group.completion_tokens)
                for group in (slow, middle)
            )
            texts = [
                f"Their answers have {slow.completion_tokens:,.0f} tokens, others "
                f"{middle.completion_tokens:,.0f}; a token takes {_ms(slow_ms)} against "
                f"{_ms(middle_ms)}."
            ]
            if (masks := slow.stages["masks"]) >= WORTH_SAYING * slow.whole:
                texts.append(f"They waited for masks too, for {_ms(masks)}: {ADVICE['masks']}")
            return texts
        case "prefill":
            return [
                f"Of their prompts {slow.computed_prompt_tokens:,.0f} tokens were not in the "
                f"prefix cache, of others {middle.computed_prompt_tokens:,.0f}."
            ]
        case "preemption":
            return [f"{found.preempted:,} of the {slow.requests:,} were preempted."]
        case _:
            return []


def _ms(value: float) -> str:
    return f"{value / 1000:.3g} s" if value >= 1000 else f"{value:.3g} ms"


SHORTEST: Final = 10
"""Mean times that the window must be long: at its edges requests are only partly in it."""

FEWEST_ARRIVALS: Final = 50
"""Arrivals without which a mean says nothing about the law: of six, one slow request decides."""

TOLERANCE: Final = 0.2
GROWTH: Final = 1.5
"""How many times as long requests of the last quarter take as in the second, in a system whose
queue grows. The first quarter may have found the server cold."""

Stability = Literal["holds", "differs", "grows", "too short"]


@dataclass(frozen=True, slots=True)
class LittlesLaw:
    """Little's law on traces: the mean number of requests in a stable system is the rate of
    arrivals times the mean time in the system (Little 1961).

    The two sides are computed from different things: the right one counts arrivals and averages
    times, the left one follows arrivals and departures through the window and averages how many are
    there. They differ where requests that arrive in the window are still there at its end, which is
    what an overloaded system looks like.

    The window lasts from the first arrival to the last, `seconds`. `rate`: arrivals a second;
    `mean_seconds`: mean time of a request; `product`: the two multiplied; `counted`: mean number of
    requests in the system; `most`: most at a time. `growth`: mean time of requests of the last
    quarter, divided by that of the second.
    """

    seconds: float
    rate: float
    mean_seconds: float
    product: float
    counted: float
    most: int
    growth: float
    verdict: Stability


def check_littles_law(requests: Sequence[TimedRequest]) -> LittlesLaw | None:
    """Check the law on requests in the order of their arrival; None for fewer than
    `FEWEST_ARRIVALS`, or for arrivals at one time."""
    if len(requests) < FEWEST_ARRIVALS or requests[-1].received <= requests[0].received:
        return None
    begin, end = requests[0].received, requests[-1].received
    seconds = end - begin
    rate = (len(requests) - 1) / seconds  # intervals between arrivals
    mean = sum(one.whole for one in requests) / len(requests) / 1000
    counted, most = _follow(requests, begin, end)
    quarter = len(requests) // 4
    early = sum(one.whole for one in requests[quarter : 2 * quarter])
    growth = sum(one.whole for one in requests[-quarter:]) / early if early else 1.0
    product = rate * mean
    if growth >= GROWTH and mean > 0:
        verdict: Stability = "grows"
    elif seconds < SHORTEST * mean:
        verdict = "too short"
    else:
        verdict = "holds" if abs(counted - product) <= TOLERANCE * product else "differs"
    return LittlesLaw(seconds, rate, mean, product, counted, most, growth, verdict)


def _follow(requests: Sequence[TimedRequest], begin: float, end: float) -> tuple[float, int]:
    """The mean and the largest number of requests in the system between two times, by following
    arrivals and departures."""
    events = [(one.received, 1) for one in requests]
    events += [(one.received + one.whole / 1000, -1) for one in requests]
    area, now, there, most = 0.0, begin, 0, 0
    for at, change in sorted(events):
        if at > end:
            break
        area += there * (at - now)
        now, there = at, there + change
        most = max(most, there)
    area += there * (end - now)
    return area / (end - begin), most
