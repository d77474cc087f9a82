"""The rows of a step that ask for nothing rare: drawn, and taken on to the next token, all in
compiled code.

A row is plain where its request is (see `maskwright.engine.request.row`) and its masks are there.
Most rows of most steps are, those with a draft from the request's own text too. What a plain row
needs to do after its token, it does at once, in the engine's thread, because that takes less time
than to hand it to another one. Where it takes more than a look at what is known, the row is handed
back.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maskwright.engine.request.active import Active
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.stats import Counts, Observations
from maskwright.sampling.device_draw import PlainDraws

class Charge(Protocol):
    """Charges output tokens to the client and the class of a sequence."""

    def __call__(self, sequence: Sequence, *, output: int) -> None: ...

class RowsLeft(NamedTuple):
    """What is left to be done. The first two have the number of their first row of logits first, or
    after `land` that of their row.

    - `left`: requests whose last tokens haven't been processed, with these.
    - `failed`: requests that failed, with the error.
    - `behind`: requests whose readers are behind.
    - `settled`: sequences with more than one token computed.
    """

    left: list[tuple[int, Active, list[int]]]
    failed: list[tuple[int, Active, Exception]]
    behind: list[Active]
    settled: list[Sequence]

class PlainRows:
    """The plain rows of one step, or of one launch of a device, at a time."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    @property
    def places(self) -> list[tuple[Active, int, int]]:
        """The rows of logits: the request, the number of its draft's tokens before the row, and the
        number of the row."""

    def collect(
        self,
        chunks: tuple[Chunk, ...],
        active: dict[int, Active],
        held: Mapping[int, object],
        place: Literal["host", "device"] | None,
    ) -> list[tuple[Chunk, int]]:
        """Take in the plain rows of a step's `chunks`, whose sequences' requests are in `active` by
        their numbers. Returns the other chunks that sample, each with the number of its first row
        of logits. Requests in `held` have a row already.
        `place`: where the logits are; without any, no row is plain, and on a device only those
        whose scores nobody wants and whose masks the token limit doesn't make smaller."""

    def land(self, rows: list[tuple[Active, list[int]]]) -> list[int]:
        """Take in the plain rows of requests for which a device has drawn so many tokens by
        itself, at least one each. Returns the numbers of the others."""

    def draw(self, logits: NDArray[np.float32]) -> None:
        """Draw a token for each of them from `logits` `[rows, vocab]` on the host, the rows of all
        chunks. Logits that penalties or a bias concern are changed."""

    @property
    def device_draws(self) -> PlainDraws:
        """What a device is to draw for them instead."""

    def take_tokens(self, tokens: list[int]) -> None:
        """Take in the tokens of `device_draws`, or codes of errors. Raises ValueError for another
        number of them."""

    def go_on(self, now: float, seen: Observations, counts: Counts, charge: Charge) -> RowsLeft:
        """Append the drawn tokens at time `now`, accepted draft tokens among them, and do what has
        to be done between two tokens."""
