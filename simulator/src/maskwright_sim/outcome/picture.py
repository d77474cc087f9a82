"""Runs drawn as SVG: for each the cumulative distribution of two times over its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

from maskwright_sim.outcome.served import Served

WIDTH: Final = 360
HEIGHT: Final = 240
LEFT: Final = 60
TOP: Final = 50
COLOURS: Final = (
    *("#1b6ca8", "#c8691c", "#7a3b8f", "#3a7d44", "#b02e4a", "#5c5c5c", "#008b8b", "#8a6d1f"),
)
POINTS: Final = 200


def draw_runs(runs: Mapping[str, Sequence[Served]], title: str) -> str:
    """Draw, for each named run, which share of its requests had their first token within how many
    seconds, and which share took at most how many milliseconds for each further token."""
    first = {name: sorted(one.ttft for one in served if one.whole) for name, served in runs.items()}
    further = {
        name: sorted(1000 * one.tpot for one in served if one.whole and len(one.times) > 1)
        for name, served in runs.items()
    }
    width, height = 2 * (WIDTH + LEFT) + 40, HEIGHT + TOP + 50 + 16 * len(runs)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
            *_panel(LEFT, "share of requests by seconds to the first token", first),
            *_panel(2 * LEFT + WIDTH + 20, "by milliseconds for each further token", further),
            *_legend(list(runs), TOP + HEIGHT + 50),
            "</svg>\n",
        )
    )


def _panel(left: int, label: str, lines: Mapping[str, list[float]]) -> list[str]:
    high = max((values[-1] for values in lines.values() if values), default=1.0) or 1.0
    bottom = TOP + HEIGHT
    drawn = [
        f'<text x="{left}" y="{TOP - 10}">{escape(label)}</text>',
        f'<path d="M{left} {TOP}V{bottom}H{left + WIDTH}" fill="none" stroke="black"/>',
    ]
    for tick in range(5):
        x, y = left + WIDTH * tick / 4, bottom - HEIGHT * tick / 4
        drawn.append(f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">')
        drawn[-1] += f"{high * tick / 4:.3g}</text>"
        drawn.append(f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{25 * tick} %</text>')
    for place, values in enumerate(lines.values()):
        points = " ".join(
            f"{left + WIDTH * value / high:.1f},{bottom - HEIGHT * share:.1f}"
            for value, share in _thinned(values)
        )
        colour = COLOURS[place % len(COLOURS)]
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    return drawn


def _thinned(values: list[float]) -> list[tuple[float, float]]:
    """At most about `POINTS` points of the distribution of sorted values, the last one included."""
    step = max(1, len(values) // POINTS)
    places = sorted({*range(0, len(values), step), len(values) - 1}) if values else []
    return [(values[place], (place + 1) / len(values)) for place in places]


def _legend(names: list[str], y: int) -> list[str]:
    drawn: list[str] = []
    for place, name in enumerate(names):
        colour, at = COLOURS[place % len(COLOURS)], y + 16 * place
        drawn.append(f'<rect x="{LEFT}" y="{at - 9}" width="14" height="8" fill="{colour}"/>')
        drawn.append(f'<text x="{LEFT + 20}" y="{at}">{escape(name)}</text>')
    return drawn
