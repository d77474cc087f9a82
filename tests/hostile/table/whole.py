"""The whole table of hostile shapes, and a sample of it."""

from __future__ import annotations

import random
from typing import Final

from tests.hostile.shape import HostileShape
from tests.hostile.table import (
    counts,
    formats,
    grammars,
    nesting,
    patterns,
    references,
    sizes,
    tags,
    tools,
    unicode,
    unions,
    unique,
)

SHAPES: Final[tuple[HostileShape, ...]] = tuple(
    shape
    for module in (
        patterns, formats, unions, references, counts, unique, grammars, tags, tools, nesting,
        sizes, unicode,
    )
    for shape in module.SHAPES
)  # fmt: skip
BY_NAME: Final = {f"{shape.subject}: {shape.name}": shape for shape in SHAPES}

MEASURED_FIRST: Final = tuple(
    BY_NAME[name]
    for name in (
        "formats: an object with a string of idn-hostname",
        "patterns: two counters about letters",
        "patterns: three counters in a counter",
        "patterns: letters before capitals",
        "unions: exactly one of 12 objects with 8 overlapping patterns",
        "unique: 40 small objects",
        "references: doubled 40 times in anyOf",
        "grammars: an ambiguous list",
    )
)
"""The shapes with which it was found that one shape could stop every stream."""


def sample(count: int, seed: int) -> list[HostileShape]:
    """`count` shapes, chosen by a seed, of all subjects equally often as far as possible."""
    draw = random.Random(seed)
    shuffled = draw.sample(SHAPES, len(SHAPES))
    rank: dict[str, int] = {}
    order: list[tuple[int, int]] = []
    for at, shape in enumerate(shuffled):
        rank[shape.subject] = rank.get(shape.subject, -1) + 1
        order.append((rank[shape.subject], at))
    return [shuffled[at] for _, at in sorted(order)[:count]]
