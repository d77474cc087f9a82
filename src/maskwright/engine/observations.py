"""Histograms of the engine's work. Only the engine's thread writes; any thread may read."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from maskwright.engine.distribution import Distribution
from maskwright.engine.histogram import Histogram

SECONDS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Bucket bounds in seconds for times that a client waits."""

MASK_SECONDS = (1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 1e-2, 0.1)

SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)
"""Bucket bounds for the tokens and sequences of a step."""

LENGTHS = (1.0, *(4.0**power for power in range(1, 10)))
"""Bucket bounds for the tokens of prompts and answers: powers of 4, up to 262,144."""


def _seconds() -> Histogram:
    return Histogram(SECONDS)


def _lengths() -> Histogram:
    return Histogram(LENGTHS)


def _sizes() -> Histogram:
    return Histogram(SIZES)


@dataclass(frozen=True, slots=True)
class Observations:
    """The engine's histograms. Times are in seconds.

    - `compile`, `queue`, `prefill`, `decode`, `ttft`, `tpot`, `total`: times of requests, as in
      `Trace`. Only `total` includes pauses for slow readers.
    - `inter_token`: time between two steps that gave a request tokens.
    - `mask`: time to fill a mask; of masks that are filled together, the mean.
    - `question`: time from a question to a grammar process until its answer is taken in.
    - `step`, `tokens`, `sequences`: the time of a step, and the tokens and sequences computed in
      it; `decodes`: the sequences that decode, of steps that have some.
    - `prompt_length`, `output_length`: tokens of prompts and of answers, of requests that ended.
    """

    compile: Histogram = field(default_factory=_seconds)
    queue: Histogram = field(default_factory=_seconds)
    prefill: Histogram = field(default_factory=_seconds)
    decode: Histogram = field(default_factory=_seconds)
    ttft: Histogram = field(default_factory=_seconds)
    tpot: Histogram = field(default_factory=_seconds)
    total: Histogram = field(default_factory=_seconds)
    inter_token: Histogram = field(default_factory=_seconds)
    mask: Histogram = field(default_factory=lambda: Histogram(MASK_SECONDS))
    question: Histogram = field(default_factory=_seconds)
    step: Histogram = field(default_factory=_seconds)
    tokens: Histogram = field(default_factory=_sizes)
    sequences: Histogram = field(default_factory=_sizes)
    decodes: Histogram = field(default_factory=_sizes)
    prompt_length: Histogram = field(default_factory=_lengths)
    output_length: Histogram = field(default_factory=_lengths)

    def read(self) -> dict[str, Distribution]:
        """All of them, by name."""
        return {item.name: getattr(self, item.name).read() for item in fields(self)}
