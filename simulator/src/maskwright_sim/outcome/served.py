"""What became of one request."""

from __future__ import annotations

from msgspec import Struct, field

from maskwright_sim.load.demand import Demand


class Served(Struct):
    """`arrival`: when the request was due. `times`: when each token was there. `replica`: the
    engine that computed the prompt, `decoder` the one that decoded (the same without a split).
    `refused`: it was turned away, at `refused_at`; with `wasted` prompt tokens computed in vain.
    `cached`: prompt tokens found in a cache. `transfer`: seconds between the end of the prefill and
    the arrival of the keys and values where they are decoded."""

    demand: Demand
    arrival: float
    times: list[float] = field(default_factory=list[float])
    replica: int = -1
    decoder: int = -1
    refused: bool = False
    wasted: int = 0
    cached: int = 0
    transfer: float = 0.0

    @property
    def whole(self) -> bool:
        """Whether every token came."""
        return len(self.times) == self.demand.output

    @property
    def ttft(self) -> float:
        """Seconds from arrival to the first token."""
        return self.times[0] - self.arrival

    @property
    def tpot(self) -> float:
        """Mean seconds for each token after the first; 0 without one."""
        if len(self.times) < 2:
            return 0.0
        return (self.times[-1] - self.times[0]) / (len(self.times) - 1)

    @property
    def worst_gap(self) -> float:
        """The longest time between two tokens."""
        pairs = zip(self.times, self.times[1:], strict=False)
        return max((later - sooner for sooner, later in pairs), default=0.0)

    @property
    def seconds(self) -> float:
        """Seconds from arrival to the last token (job completion time)."""
        return self.times[-1] - self.arrival

    @property
    def normalized(self) -> float:
        """Seconds for each token of the answer, waiting included (Orca's normalized latency)."""
        return self.seconds / len(self.times)
