"""Say from traces which stage makes the slowest requests slow, and whether the server keeps up.

`maskwright serve --trace traces.jsonl` writes the file, a line for each answer. The slowest
requests are compared with the middle half of all; the stage with the largest excess is named.
Little's law (requests in the system = rate of arrivals times time in the system) is checked too.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Final

from maskwright.cli.arguments import Argument
from maskwright.cli.observe.arrivals import LittlesLaw
from maskwright.cli.observe.diagnosis import (
    ADVICE,
    Diagnosis,
    GroupTimes,
    diagnose_requests,
)
from maskwright.cli.observe.diagnosis_chart import diagnosis_charts
from maskwright.cli.observe.stages import STAGES, timed_requests
from maskwright.cli.observe.trace_file import read_traces
from maskwright.cli.options import JSON_HELP
from maskwright.cli.output.chart import draw_charts
from maskwright.cli.output.files import open_file
from maskwright.cli.output.tables import Row, lay_out, output_width, paragraph
from maskwright.settings import Option

WORTH_SAYING: Final = 0.1
"""Share of the whole from which on a stage is mentioned beside the largest one."""


@dataclass(frozen=True, slots=True)
class DiagnoseOptions:
    """What `maskwright diagnose` is given."""

    traces: Annotated[str, Argument(help="File of traces, or '-' for standard input.")]
    share: Annotated[
        float, Option(least=0.01, most=50, help="Percent of the requests that count as slowest.")
    ] = 1.0
    service: Annotated[
        str | None, Option(help="Look only at requests of this class of service.")
    ] = None
    plot: Annotated[
        str | None, Option(help="SVG file to which the stages of the slowest are drawn.")
    ] = None
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False


def run(options: DiagnoseOptions) -> None:
    lines = [
        t
        for t in read_traces(options.traces)
        if options.service is None or t.get("service") == options.service
    ]
    found = diagnose_requests(timed_requests(lines), options.share)
    target = None if options.plot is None else open_file(options.plot)
    print(json.dumps(document(found), indent=2) if options.as_json else told(found, output_width()))
    if target is not None:
        title = f"The slowest requests: most of the difference is {STAGES[found.culprit]}"
        target.write_text(draw_charts(diagnosis_charts(found), title))


def document(found: Diagnosis) -> dict[str, object]:
    """The diagnosis as a JSON object. Times are in milliseconds unless they are named seconds."""
    return {
        **asdict(found),
        "verdict": verdict(found),
        "advice": found.advice,
    }


def verdict(found: Diagnosis) -> str:
    """Which stage dominates the tail, in one sentence."""
    slow, middle, name = found.slowest, found.middle, found.culprit
    return (
        f"The slowest {slow.requests:,} of {found.requests:,} requests take {_ms(slow.whole)} on "
        f"average, the middle half {_ms(middle.whole)}; most of the difference is {STAGES[name]}: "
        f"{_ms(slow.stages[name])} against {_ms(middle.stages[name])}."
    )


def told(found: Diagnosis, width: int) -> str:
    """The diagnosis as sentences and a table, in lines of at most `width` characters."""
    texts = [verdict(found), *_details(found), found.advice]
    if found.littles_law is not None:
        texts.append(law_told(found.littles_law))
    rows: list[Row] = [
        {
            "stage": name,
            "middle ms": found.middle.stages[name],
            "slowest ms": found.slowest.stages[name],
            "excess ms": found.excess[name],
        }
        for name in STAGES
    ]
    whole = found.middle.whole, found.slowest.whole
    rows.append({"stage": "all", "middle ms": whole[0], "slowest ms": whole[1],
                 "excess ms": whole[1] - whole[0]})  # fmt: skip
    lines = [{key: _rounded(cell) for key, cell in row.items()} for row in rows]
    return "\n".join(paragraph(text, width) for text in texts) + f"\n\n{lay_out(lines, width)}"


def law_told(law: LittlesLaw) -> str:
    """What Little's law says, with its numbers."""
    sums = (
        f"Little's law: {law.rate:.3g} requests a second × {law.mean_seconds:.3g} s = "
        f"{law.product:.3g} in the system; counted {law.counted:.3g}, at most {law.most}"
    )
    match law.verdict:
        case "holds":
            return f"{sums}. The law holds: the server keeps up."
        case "grows":
            return (
                f"{sums}. The queue grows: requests of the last quarter take {law.growth:.1f} "
                "times as long as those of the second. More arrive than the server serves."
            )
        case "too short":
            return f"{sums}. {law.seconds:.3g} s of arrivals are too short to say whether it holds."
        case "differs":
            return (
                f"{sums}. The two differ: requests are missing from the file, or the clock was set."
            )


def _details(found: Diagnosis) -> list[str]:
    """What explains the culprit further, where a trace says it."""
    slow, middle = found.slowest, found.middle
    match found.culprit:
        case "decode":
            return [
                f"Their answers have {slow.completion_tokens:,.0f} tokens, others "
                f"{middle.completion_tokens:,.0f}; a token takes {_ms(_each(slow))} against "
                f"{_ms(_each(middle))}.",
                *_waited(slow),
            ]
        case "prefill":
            return [
                f"Of their prompts {slow.computed_prompt_tokens:,.0f} tokens were not in the "
                f"prefix cache, of others {middle.computed_prompt_tokens:,.0f}."
            ]
        case "preemption":
            return [f"{found.preempted:,} of the {slow.requests:,} were preempted."]
        case _:
            return []


def _waited(slow: GroupTimes) -> list[str]:
    """What the slowest requests have waited for masks beside decoding, if that is noticeable."""
    masks = slow.stages["masks"]
    if masks < WORTH_SAYING * slow.whole:
        return []
    return [f"They waited for masks too, for {_ms(masks)}: {ADVICE['masks']}"]


def _each(group: GroupTimes) -> float:
    """Milliseconds of decoding for each token."""
    return group.stages["decode"] / max(1.0, group.completion_tokens)


def _ms(value: float) -> str:
    return f"{value / 1000:.3g} s" if value >= 1000 else f"{value:.3g} ms"


def _rounded(cell: float | int | str | None) -> float | int | str | None:
    return round(cell, 1) + 0.0 if isinstance(cell, float) else cell  # no -0
