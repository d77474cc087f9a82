"""The goals of the sampling chain on an H200, and of which ways of a row its cases consist."""

from __future__ import annotations

from typing import Final

VOCAB: Final = 128_256
"""Tokens of the vocabulary for which the goals are set."""

GOALS_US: Final[dict[tuple[str, int], float]] = {
    ("greedy", 64): 12.0,
    ("temperature", 64): 32.0,
    ("top-p", 64): 60.0,
    ("mixed", 64): 80.0,
    ("top-p", 256): 180.0,
    ("mixed", 256): 200.0,
}
"""Microseconds in a recorded graph, by chain and rows."""

WAYS: Final[dict[str, dict[str, float]]] = {
    "greedy": {"greedy": 1},
    "temperature": {"drawn": 1},
    "top-p": {"truncated": 1},
    "mixed": {"greedy": 1 / 6, "drawn": 1 / 6, "truncated": 4 / 6},
}
"""The shares of rows that are greedy, that are drawn from all tokens, and from some. Those of mixed
rows are the shares in `benchmarks/gpu/sampling.py`."""
