"""Little's law on traces: the mean number of requests in a stable system is the rate of arrivals
times the mean time in the system (Little 1961).

The two sides are computed from different things: the right one counts arrivals and averages times,
the left one follows arrivals and departures through the window and averages how many are there.
They differ where requests that arrive in the window are still there at its end, which is what an
overloaded system looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from maskwright.cli.observe.stages import TimedRequest

SHORTEST: Final = 10
"""Mean times that the window must be long: at its edges requests are only partly in it."""

FEWEST: Final = 50
"""Arrivals without which a mean says nothing about the law: of six, one slow request decides."""

TOLERANCE: Final = 0.2
GROWTH: Final = 1.5
"""How many times as long requests of the last quarter take as in the second, in a system whose
queue grows. The first quarter may have found the server cold."""

Stability = Literal["holds", "differs", "grows", "too short"]


@dataclass(frozen=True, slots=True)
class LittlesLaw:
    """The window lasts from the first arrival to the last, `seconds`. `rate`: arrivals a second;
    `mean_seconds`: mean time of a request; `product`: the two multiplied; `counted`: mean number of
    requests in the system; `most`: most at a time. `growth`: mean time of requests of the last
    quarter, divided by that of the second."""

    seconds: float
    rate: float
    mean_seconds: float
    product: float
    counted: float
    most: int
    growth: float
    verdict: Stability


def check_littles_law(requests: Sequence[TimedRequest]) -> LittlesLaw | None:
    """Check the law on requests in the order of their arrival; None for fewer than `FEWEST`, or for
    arrivals at one time."""
    if len(requests) < FEWEST or requests[-1].received <= requests[0].received:
        return None
    begin, end = requests[0].received, requests[-1].received
    seconds = end - begin
    rate = (len(requests) - 1) / seconds  # intervals between arrivals
    mean = sum(one.whole for one in requests) / len(requests) / 1000
    counted, most = _follow(requests, begin, end)
    growth = _growth(requests)
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


def _growth(requests: Sequence[TimedRequest]) -> float:
    quarter = len(requests) // 4
    if quarter < 3:
        return 1.0
    early = sum(one.whole for one in requests[quarter : 2 * quarter])
    late = sum(one.whole for one in requests[-quarter:])
    return late / early if early else 1.0
