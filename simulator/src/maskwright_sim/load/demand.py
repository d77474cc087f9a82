"""One request of a simulation."""

from __future__ import annotations

from typing import Final

from maskwright.engine.schedule.sequence import Sequence
from maskwright.immutable import Immutable

SPAN: Final = 1 << 32
"""Distance between the token numbers of two texts, so that no two texts share a token by chance."""


class Demand(Immutable):
    """A request that arrives at `time` (seconds), with its prompt as token numbers, and is
    answered with `output` tokens, of at most `cap` that it asked for. `deadline`: the time by which
    its first token should be there. `after`: the number of the request whose end it waits for (the
    next turn of a conversation), which then arrives `time` seconds after that end."""

    number: int
    time: float
    prompt: tuple[int, ...]
    output: int
    cap: int = 0
    rank: int = 0
    client: str = ""
    deadline: float | None = None
    after: int | None = None

    @property
    def answer(self) -> list[int]:
        """The tokens of the answer, which no other text contains."""
        return text(-1 - self.number, self.output)

    def sequence(self) -> Sequence:
        """The request as the scheduler sees it."""
        return Sequence(
            self.number,
            list(self.prompt),
            len(self.prompt),
            len(self.prompt) + max(self.cap, self.output),
            rank=self.rank,
            client=self.client,
            deadline=self.deadline,
        )


def text(number: int, length: int) -> list[int]:
    """The text with this number, of `length` tokens. Texts with different numbers share none; a
    shorter one with an equal number is a beginning of it."""
    start = number * SPAN
    return list(range(start, start + length))
