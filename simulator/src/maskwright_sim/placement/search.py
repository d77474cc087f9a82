"""Which parallelism and how many instances of each phase: DistServe's placement search (Zhong et
al., OSDI'24, algorithms 1 and 2) over rates that are given, so that it is a pure function."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

from maskwright.immutable import Immutable


class Parallelism(Immutable, order=True):
    """The parallelism of one instance: `intra` devices share every layer, `inter` stages share the
    layers among them."""

    intra: int = 1
    inter: int = 1

    @property
    def devices(self) -> int:
        """Devices of one instance."""
        return self.intra * self.inter


Rates = Mapping[Parallelism, float]
"""For each shape the requests a second that one instance serves within the objectives."""


class Placement(Immutable):
    """`prefills` instances of shape `prefill` and `decodes` of shape `decode`, on `devices`
    devices, serve `rate` requests a second. `limit`: the phase that limits the rate."""

    prefill: Parallelism
    prefills: int
    decode: Parallelism
    decodes: int
    devices: int
    rate: float
    limit: str


def best_of(prefill: Rates, decode: Rates, devices: int) -> Placement | None:
    """The placement with the highest rate on at most `devices` devices, where keys and values move
    between any two (high node affinity); of equal rates the one with the fewest devices. None if
    none serves anything."""
    first, second = _frontier(prefill, devices), _frontier(decode, devices)
    best: Placement | None = None
    for (shape, count, rate), (other, others, reached) in product(first, second):
        used = shape.devices * count + other.devices * others
        if used > devices:
            continue
        made = _placement(shape, count, rate, other, others, reached)
        if best is None or (made.rate, -made.devices) > (best.rate, -best.devices):
            best = made
    return best


def fewest_for(prefill: Rates, decode: Rates, rate: float) -> Placement | None:
    """The placement with the fewest devices that serves `rate` requests a second, with high node
    affinity: each phase by itself, replicated until it is fast enough. None if a phase can't."""
    chosen: list[tuple[Parallelism, int, float]] = []
    for rates in (prefill, decode):
        options = [(shape, _count(rate, each), each) for shape, each in rates.items() if each > 0]
        if not options:
            return None
        chosen.append(min(options, key=lambda one: (one[0].devices * one[1], one[0])))
    (shape, count, each), (other, others, reached) = chosen
    return _placement(shape, count, count * each, other, others, others * reached)


def best_within_nodes(prefill: Rates, decode: Rates, node: int, rate: float) -> Placement | None:
    """The placement with the fewest devices that serves `rate`, where keys and values may move only
    within a node of `node` devices (low node affinity): both phases have equal numbers of stages,
    and each stage of prefill and decode instances shares a node. A unit is such a group of
    instances, and is replicated. None if no unit fits."""
    best: Placement | None = None
    for unit in _units(prefill, decode, node):
        copies = _count(rate, unit.rate)
        made = Placement(
            unit.prefill,
            unit.prefills * copies,
            unit.decode,
            unit.decodes * copies,
            unit.devices * copies,
            unit.rate * copies,
            unit.limit,
        )
        if best is None or (made.devices, -made.rate) < (best.devices, -best.rate):
            best = made
    return best


def _units(prefill: Rates, decode: Rates, node: int) -> Iterable[Placement]:
    for (shape, each), (other, reached) in product(prefill.items(), decode.items()):
        if shape.inter != other.inter or min(each, reached) <= 0:
            continue
        for count in range(1, node // shape.intra + 1):
            for others in range(1, (node - count * shape.intra) // other.intra + 1):
                yield _placement(shape, count, count * each, other, others, others * reached)


def _count(rate: float, each: float) -> int:
    """Instances for `rate`; a billionth less than a whole number counts as that number."""
    return max(1, math.ceil(rate / each - 1e-9))


def _frontier(rates: Rates, devices: int) -> list[tuple[Parallelism, int, float]]:
    """Shapes and counts that serve more than any with as few devices."""
    options = [
        (shape, count, count * rate)
        for shape, rate in rates.items()
        if rate > 0
        for count in range(1, devices // shape.devices + 1)
    ]
    options.sort(key=lambda one: (one[0].devices * one[1], -one[2], one[0]))
    kept: list[tuple[Parallelism, int, float]] = []
    for option in options:
        if not kept or option[2] > kept[-1][2]:
            kept.append(option)
    return kept


def _placement(
    shape: Parallelism, count: int, rate: float, other: Parallelism, others: int, reached: float
) -> Placement:
    return Placement(
        shape,
        count,
        other,
        others,
        shape.devices * count + other.devices * others,
        min(rate, reached),
        "prefill" if rate <= reached else "decode",
    )
