"""Classes of service: who comes first, and what share of the work each class gets.

Within a class, clients are served fairly by virtual token counters (Sheng et al., "Fairness in
serving large language models", OSDI'24): the client that has been given least comes next, and
one that comes back after a rest starts level with those at work, so rest can't be saved up. The
same counters, divided by weights, choose between classes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from maskwright.errors import InputError

OUTPUT_PRICE = 2
"""What a generated token counts, in tokens of a prompt."""

REMEMBERED = 4096
"""Parties whose counter is kept while they have no request."""


@dataclass(frozen=True, slots=True)
class ServiceClass:
    """Requests that want the same service. Of all tokens that a step has for prompts, classes with
    work to do get parts in proportion to their `weight`; what one leaves, others take.

    Objectives, in seconds: `ttft` until the first token, `tpot` for each token after it. A request
    that would miss one of them is refused at once, and told when to come back; without an
    objective it never is."""

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


CLASSES = (
    ServiceClass("interactive", 8.0),
    ServiceClass("agent", 4.0),
    ServiceClass("batch", 1.0),
)
"""The default classes. The order is the order of preemption: the last gives way first."""


@dataclass(slots=True)
class FairShare:
    """Virtual counters of parties that compete: tokens served, divided by the party's weight."""

    weights: dict[str, float] = field(default_factory=dict[str, float])
    _served: dict[str, float] = field(default_factory=dict[str, float])
    _live: Counter[str] = field(default_factory=Counter[str])
    _left_at: float = 0.0

    def served(self, party: str) -> float:
        """The counter of a party; the smallest is next."""
        return self._served.get(party, 0.0)

    def enter(self, party: str) -> None:
        """One more request of `party`. A party without others is lifted to the least counter at
        work, or, where nobody is at work, to that of the last who left."""
        if not self._live[party]:
            level = min((self._served[other] for other in self._live), default=self._left_at)
            self._served[party] = max(self._served.get(party, 0.0), level)
        self._live[party] += 1

    def leave(self, party: str) -> None:
        """One request of `party` has ended."""
        self._live[party] -= 1
        if not self._live[party]:
            del self._live[party]
            self._left_at = self._served[party]
            self._forget()

    def charge(self, party: str, tokens: float) -> None:
        """`party` has been given work of `tokens`."""
        self._served[party] = self._served.get(party, 0.0) + tokens / self.weights.get(party, 1.0)

    def _forget(self) -> None:
        """Those who were given least lose nothing: on return they are lifted anyway."""
        if len(self._served) > 2 * REMEMBERED:
            idle = sorted(set(self._served) - set(self._live), key=self._served.__getitem__)
            for party in idle[: len(self._served) - REMEMBERED]:
                del self._served[party]
