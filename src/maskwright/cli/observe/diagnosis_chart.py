"""Where the time of the slowest requests went, as a chart."""

from __future__ import annotations

from typing import Final

from maskwright.cli.observe.diagnosis import Diagnosis
from maskwright.cli.observe.stages import STAGES
from maskwright.cli.output.chart import BarChart, Chart

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
