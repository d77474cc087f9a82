"""Service classes and their shares of the work.

Within a class, clients are served fairly by virtual token counters (Sheng et al., "Fairness in
serving large language models", OSDI'24). The client with the lowest counter comes next. The counter
of a client that returns after a pause is raised to the lowest counter of the active clients, so
that it can't save up service while it is idle. Such counters, divided by weights, also choose
between classes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from maskwright.errors import InputError

OUTPUT_PRICE = 2
"""The cost of a generated token in prompt tokens."""

REMEMBERED = 4096
"""Idle parties whose counters are kept."""


@dataclass(frozen=True, slots=True)
class ServiceClass:
    """A class of requests that share a weight and objectives. The prompt tokens of a step are
    divided among the classes with work in proportion to `weight`; what one class leaves goes to the
    others.

    Objectives, in seconds: `ttft` is the time to first token, `tpot` the time per output token
    after it. A request that is predicted to miss one is refused at once, with the time after which
    to try again; without an objective it is never refused for time."""

    name: str
    weight: float
    ttft: float | None = None
    tpot: float | None = None

    def __post_init__(self) -> None:
        for objective in ("ttft", "tpot"):
            seconds = getattr(self, objective)
            if seconds is not None and not seconds > 0:
                raise InputError(
                    f"Class {self.name!r} has the {objective} {seconds}; it must be a number of "
                    "seconds above 0.",
                    param="classes",
                )
        if not self.name or not self.weight > 0:
            raise InputError(
                f"Class {self.name!r} has weight {self.weight}; a class needs a name and a weight "
                "above 0.",
                param="classes",
            )


CLASSES = (ServiceClass("interactive", 8.0), ServiceClass("agent", 4.0), ServiceClass("batch", 1.0))
"""The default classes, best first. The last one is preempted first."""


@dataclass(slots=True)
class FairShare:
    """Virtual token counters of competing parties (clients or classes): tokens served, divided by
    the weight of the party."""

    weights: dict[str, float] = field(default_factory=dict[str, float])
    _served: dict[str, float] = field(default_factory=dict[str, float])
    _live: Counter[str] = field(default_factory=Counter[str])
    _left_at: float = 0.0

    def served(self, party: str) -> float:
        """The counter of `party`; the party with the lowest is served next."""
        return self._served.get(party, 0.0)

    def enter(self, party: str) -> None:
        """Count one more live request of `party`. The counter of a party that had none is raised to
        the lowest one of the active parties or, without active parties, to that of the party which
        became idle last."""
        if not self._live[party]:
            level = min((self._served[other] for other in self._live), default=self._left_at)
            self._served[party] = max(self._served.get(party, 0.0), level)
        self._live[party] += 1

    def leave(self, party: str) -> None:
        """Count one live request of `party` less."""
        self._live[party] -= 1
        if not self._live[party]:
            del self._live[party]
            self._left_at = self._served[party]
            self._forget()

    def charge(self, party: str, tokens: float) -> None:
        """Add `tokens`, divided by the party's weight, to the counter of `party`."""
        self._served[party] = self._served.get(party, 0.0) + tokens / self.weights.get(party, 1.0)

    def _forget(self) -> None:
        """Drop the lowest counters of idle parties. They lose nothing, since a low counter is
        raised on return anyway."""
        if len(self._served) > 2 * REMEMBERED:
            idle = sorted(set(self._served) - set(self._live), key=self._served.__getitem__)
            for party in idle[: len(self._served) - REMEMBERED]:
                del self._served[party]
