"""The times of engines as a picture: the way to the first mask, and all masks by percentile."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from maskwright.cli.bench.mask_times import EngineTimes, RoundTimes
from maskwright.cli.output.chart import BarChart, Line, LineChart, draw_charts

PERCENTILES: Final = (*range(0, 100, 5), 98, 99)
"""The slowest mask is left out: it is most often the machine's, and flattens all others."""


def draw(found: Sequence[EngineTimes], title: str) -> str:
    """Draw the times of engines that have readings, as SVG."""
    bars: list[tuple[str, Sequence[float]]] = []
    lines: list[Line] = []
    for times in found:
        for name, readings in _readings(times):
            case = f"{times.engine}, {name}"
            compiling = statistics.median(reading.compiling for reading in readings)
            first_mask = statistics.median(reading.first_mask for reading in readings)
            bars.append((case, (1000 * compiling, 1000 * first_mask)))
            lines.append(_line(case, [s for reading in readings for s in reading.masks]))
            if within := [s for reading in readings for s in reading.masks_within]:
                lines.append(_line(f"{case}, with budgets", within))
    charts = (
        BarChart("to the first mask", ("compiling", "first mask"), bars, "ms"),
        LineChart("microseconds a mask", "percent of masks that are as fast", lines),
    )
    return draw_charts(charts, title)


def _readings(times: EngineTimes) -> Iterator[tuple[str, Sequence[RoundTimes]]]:
    """The first reading and the later ones, each where there is one."""
    if times.readings:
        yield "first", times.readings[:1]
    if times.readings[1:]:
        yield "later", times.readings[1:]


def _line(name: str, masks: Sequence[float]) -> Line:
    values = np.percentile(1e6 * np.array(masks), PERCENTILES).tolist()
    return Line(name, [*zip(map(float, PERCENTILES), values, strict=True)])
