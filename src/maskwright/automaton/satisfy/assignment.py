"""The cheapest way to give each of several places a value of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

_NEVER: Final = float("inf")


def assigned(places: Sequence[Mapping[str, int]]) -> list[str] | None:
    """A value for each place, all different, with the least sum of costs; None if there is none.

    `places` give the cost of each value that they allow. Successive shortest augmenting paths with
    potentials (the Hungarian method): O(places² · values).
    """
    values = list(dict.fromkeys(value for place in places for value in place))
    if len(values) < len(places):
        return None
    costs = [[place.get(value, _NEVER) for value in values] for place in places]
    owner = [-1] * len(values)
    of_place, of_value = [0.0] * len(places), [0.0] * len(values)
    for new in range(len(places)):
        distance = [_NEVER] * len(values)
        before = [-1] * len(values)
        done = [False] * len(values)
        place, reached, last = new, 0.0, -1
        while True:
            nearest = -1
            for at, cost in enumerate(costs[place]):
                if done[at]:
                    continue
                through = reached + cost - of_place[place] - of_value[at]
                if through < distance[at]:
                    distance[at], before[at] = through, last
                if nearest < 0 or distance[at] < distance[nearest]:
                    nearest = at
            if nearest < 0 or distance[nearest] == _NEVER:
                return None
            last, reached, done[nearest] = nearest, distance[nearest], True
            if owner[nearest] < 0:
                break
            place = owner[nearest]
        of_place[new] += reached
        for at, is_done in enumerate(done):
            if is_done:
                of_value[at] += distance[at] - reached
                if owner[at] >= 0:
                    of_place[owner[at]] += reached - distance[at]
        while last >= 0:
            owner[last] = owner[before[last]] if before[last] >= 0 else new
            last = before[last]
    found = [""] * len(places)
    for at, place in enumerate(owner):
        if place >= 0:
            found[place] = values[at]
    return found
