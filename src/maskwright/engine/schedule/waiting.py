"""The queue of waiting sequences, and the order in which they should be admitted."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from collections.abc import Sequence as SequenceOf
from itertools import islice

from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.service import OUTPUT_PRICE, FairShare, ServiceClass

WINDOW = 16
"""Number of waiting sequences of a class that are ordered by how much of their prompt is cached."""

PATIENCE = 8
"""How often a sequence may be overtaken by others before it must be admitted first."""

SLACK = 2048.0
"""By how many tokens the counter of a client may exceed the lowest one while its cached prompts may
still go first."""


class WaitingQueue:
    """One queue for each class and client, in order of arrival. A preempted sequence keeps its
    place in the order of arrivals, and goes before sequences that never ran."""

    def __init__(self, classes: SequenceOf[ServiceClass]) -> None:
        self._classes = classes
        self._between_classes = FairShare({item.name: item.weight for item in classes})
        self._between_clients = [FairShare() for _ in classes]
        self._queues: list[dict[str, list[Sequence]]] = [{} for _ in classes]
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Sequence]:
        for queues in self._queues:
            for queue in queues.values():
                yield from queue

    def counts(self) -> list[int]:
        """The number of sequences of each class, from any thread."""
        return [sum(map(len, list(queues.values()))) for queues in self._queues]

    def enter(self, sequence: Sequence) -> None:
        """Register a new sequence with the counters of its class and client."""
        self._between_classes.enter(self._classes[sequence.rank].name)
        self._between_clients[sequence.rank].enter(sequence.client)

    def leave(self, sequence: Sequence) -> None:
        """Unregister a sequence that has ended."""
        self._between_classes.leave(self._classes[sequence.rank].name)
        self._between_clients[sequence.rank].leave(sequence.client)

    def add(self, sequence: Sequence) -> None:
        """Insert a sequence into its queue by order of arrival."""
        queue = self._queues[sequence.rank].setdefault(sequence.client, [])
        insort(queue, sequence, key=lambda other: other.arrival)
        self._count += 1

    def remove(self, sequence: Sequence) -> None:
        """Remove a sequence from its queue."""
        queues = self._queues[sequence.rank]
        queues[sequence.client].remove(sequence)
        if not queues[sequence.client]:
            del queues[sequence.client]
        self._count -= 1

    def overtake(self, chosen: Sequence, blocked: list[Sequence]) -> None:
        """Count that `chosen` is admitted before `blocked`, and before older ones of its client."""
        older = self._queues[chosen.rank].get(chosen.client, [])[:WINDOW]
        for sequence in {*blocked, *(s for s in older if s.arrival < chosen.arrival)}:
            sequence.overtaken += 1

    def charge(self, sequence: Sequence, *, prompt: int = 0, output: int = 0) -> None:
        """Charge tokens to the client and the class of a sequence."""
        tokens = prompt + OUTPUT_PRICE * output
        self._between_classes.charge(self._classes[sequence.rank].name, tokens)
        self._between_clients[sequence.rank].charge(sequence.client, tokens)

    def served(self, rank: int) -> float:
        """The virtual token counter of a class."""
        return self._between_classes.served(self._classes[rank].name)

    def ranks(self) -> list[int]:
        """The classes with waiting sequences, lowest counter first."""
        waiting = [rank for rank, queues in enumerate(self._queues) if queues]
        return sorted(waiting, key=lambda rank: (self.served(rank), rank))

    def order(self, cached: Callable[[Sequence], int]) -> Iterator[Sequence]:
        """Yield the sequences in the order in which to admit them: classes by their counters;
        within a class first those that were overtaken too often or preempted, then, among the first
        `WINDOW` of the clients whose turn it is, those with the most cached tokens (which `cached`
        returns)."""
        for rank in self.ranks():
            window = self._window(rank)
            if len(window) > 1:
                window.sort(key=lambda s: (not _due(s), 0 if _due(s) else -cached(s)))
            yield from window

    def _window(self, rank: int) -> list[Sequence]:
        """The first sequences of a class in fair order: one of each client in turn, lowest counter
        first."""
        share, queues = self._between_clients[rank], self._queues[rank]
        due = [s for queue in queues.values() for s in queue[:WINDOW] if _due(s)]
        due.sort(key=lambda s: s.arrival)
        clients = sorted(queues, key=share.served)
        limit = share.served(clients[0]) + SLACK
        near = [queues[client] for client in clients if share.served(client) <= limit]
        in_turn = (queue[place] for place in range(WINDOW) for queue in near if place < len(queue))
        return [*due, *islice((s for s in in_turn if not _due(s)), WINDOW)]


def _due(sequence: Sequence) -> bool:
    return sequence.overtaken >= PATIENCE or sequence.preemptions > 0
