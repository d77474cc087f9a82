"""The operating envelope as a picture: two panels, drawn by hand as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from maskwright.cli.load.point import Point

WIDTH, HEIGHT, LEFT, TOP = 360, 240, 60, 50
COLOURS = {"steady": "#1b6ca8", "burst": "#c8691c", "adversarial": "#7a3b8f"}


def draw(points: Sequence[Point], title: str) -> str:
    """Draw, over the rate of requests, how many answers a second were good, and within which time
    the first token came for 95 of 100."""
    goodput = {name: [(p.rate, p.goodput) for p in own] for name, own in _by_pattern(points)}
    late = {name: [(p.rate, p.ttft[1]) for p in own] for name, own in _by_pattern(points)}
    rates = [p.rate for p in points]
    ideal = [(0.0, 0.0), (max(rates), max(rates))]
    width, height = 2 * (WIDTH + LEFT) + 40, HEIGHT + TOP + 70
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
            *_panel(LEFT, "good answers a second", goodput, ideal),
            *_panel(LEFT * 2 + WIDTH + 20, "seconds to the first token, p95", late, []),
            *_legend(list(goodput), height - 12),
            "</svg>\n",
        )
    )


def _by_pattern(points: Sequence[Point]) -> list[tuple[str, list[Point]]]:
    names = dict.fromkeys(point.pattern for point in points)
    return [
        (name, sorted((p for p in points if p.pattern == name), key=lambda p: p.rate))
        for name in names
    ]


def _panel(
    left: int,
    label: str,
    lines: dict[str, list[tuple[float, float]]],
    ideal: list[tuple[float, float]],
) -> list[str]:
    """One panel: axes from 0, a line for each pattern, and a dashed line for the ideal."""
    known = {n: [(x, y) for x, y in line if not math.isnan(y)] for n, line in lines.items()}
    every = [*ideal, *(point for line in lines.values() for point in line)]
    right = _round_up(max(x for x, _ in every))
    high = _round_up(max([1e-3, *(y for _, y in every if not math.isnan(y))]))

    def place(x: float, y: float) -> str:
        return f"{left + WIDTH * x / right:.1f},{TOP + HEIGHT * (1 - y / high):.1f}"

    drawn = [f'<text x="{left}" y="{TOP - 10}">{label}</text>']
    for step in range(5):
        share = step / 4
        y = TOP + HEIGHT * (1 - share)
        x = left + WIDTH * share
        drawn += [
            f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>',
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{high * share:.3g}</text>',
            f'<text x="{x:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">'
            f"{right * share:.3g}</text>",
        ]
    drawn.append(
        f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">'
        "requests a second</text>"
    )
    if ideal:
        corners = " ".join(place(x, y) for x, y in ideal)
        drawn.append(
            f'<polyline points="{corners}" fill="none" stroke="#999" stroke-dasharray="4 4"/>'
        )
    for name, line in known.items():
        corners = " ".join(place(x, y) for x, y in line)
        colour = COLOURS[name]
        drawn.append(f'<polyline points="{corners}" fill="none" stroke="{colour}"/>')
        for x, y in line:
            across, down = place(x, y).split(",")
            drawn.append(f'<circle cx="{across}" cy="{down}" r="3" fill="{colour}"/>')
    return drawn


def _legend(names: list[str], y: int) -> list[str]:
    drawn: list[str] = []
    for number, name in enumerate(names):
        x = LEFT + 110 * number
        drawn.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{COLOURS[name]}"/>')
        drawn.append(f'<text x="{x + 10}" y="{y}">{name}</text>')
    return drawn


def _round_up(value: float) -> float:
    """Round up to 1, 2, 4, 5, 8 or 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * n for n in (1, 2, 4, 5, 8, 10) if power * n >= value * (1 - 1e-9))
