"""What a server and an engine need of a compiled grammar, wherever it lives.

`Grammar` and `Matcher` compute in this process; `processes.FollowedGrammar` and its followers know
what grammar processes have sent, and ask them for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from maskwright.automaton.events.events import Event
from maskwright.grammar.schema.tree import Report
from maskwright.vocab import Vocabulary

Reply: TypeAlias = Callable[[], None] | Exception
"""What comes of a question about a text: an error, or the function by which the thread that uses
the text's matcher takes in what was found out."""


class ForcedRun(NamedTuple):
    """The canonical tokens of the text that a grammar forces at a position, empty if there are
    none. After them the text is `complete`, or can be completed within `needs` tokens. `whole`: the
    forced text, which may be longer than these tokens, goes to the end of the text. `shared`: all
    of this holds for every text at the position."""

    tokens: tuple[int, ...]
    complete: bool
    needs: int
    whole: bool
    shared: bool

    def within(self, left: int) -> tuple[int, ...]:
        """The tokens, if the rest of `left` tokens suffices to complete the text after them;
        otherwise none."""
        rest = left - len(self.tokens)
        fits = rest >= 0 and (self.complete or self.needs <= rest)
        return self.tokens if fits else ()


NOTHING_FORCED: Final = ForcedRun((), complete=False, needs=0, whole=False, shared=True)


class TextMatcher(Protocol):
    """The position of one text in a grammar. To be used from one thread at a time."""

    @property
    def accepting(self) -> bool:
        """Whether the text so far is complete."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the text is complete and nothing but an end token may follow."""
        ...

    @property
    def known(self) -> bool:
        """Whether the current mask has been computed already."""
        ...

    @property
    def row(self) -> int:
        """The number of the current mask."""
        ...

    @property
    def state(self) -> tuple[int, ...]:
        """Where the text stands, in the machine's numbers; equal texts have equal ones."""
        ...

    def mask(self, budget: int) -> npt.NDArray[np.int32]:
        """The mask (int32 `[words]`) of a text that may go on for `budget` tokens; not to be
        written to."""
        ...

    def free_mask(self, budget: int, mask: npt.NDArray[np.int32]) -> npt.NDArray[np.int32] | None:
        """The mask without a budget, if that allows more than `mask`, the one under `budget`;
        otherwise None."""
        ...

    def accept(self, token: int) -> bool:
        """Append a token; False, and nothing changes, if the mask doesn't allow it."""
        ...

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted tokens."""

    def forced_run(self) -> ForcedRun:
        """The forced tokens, and what comes after them."""
        ...

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next."""
        ...

    def ends_within(self, left: int) -> bool:
        """Whether the text can certainly be completed within `left` tokens."""
        ...

    def knows(self, tokens: Iterable[int], left: int, *, canonical: bool) -> bool:
        """Whether everything is at hand that is needed after `tokens`: where they lead, and the
        text that the grammar forces there, if that is wanted (`canonical`), and the mask at the end
        of it. `left` tokens may come after `tokens`."""
        ...

    def ask(
        self, tokens: list[int], left: int, *, canonical: bool, then: Callable[[Reply], None]
    ) -> None:
        """Have what `knows` lacks found out; `then` may be called in another thread."""

    def look_ahead(self) -> None:
        """Have found out where tokens lead from here, while the model computes."""

    def close(self) -> None:
        """The text has ended."""


class EventSource(Protocol):
    """Reads the events of one text from its start."""

    def read(self, token_ids: Sequence[int], *, final: bool) -> Future[list[Event]]:
        """The events of the next tokens, which the grammar must accept; `final` with the last
        ones. The next call comes after the result of this one."""
        ...


class CompiledGrammar(Protocol):
    """A compiled grammar; see `Grammar`."""

    @property
    def report(self) -> Report:
        """What was done with each keyword of a schema."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary for which the grammar was compiled."""
        ...

    @property
    def size(self) -> int:
        """Estimated bytes that are kept for it in this process."""
        ...

    @property
    def min_tokens(self) -> int:
        """An upper bound on the tokens of some text."""
        ...

    def least_tokens(self, enough: int) -> int:
        """The fewest tokens found for any text; a search that finds `enough` may end."""
        ...

    def matcher(self) -> TextMatcher:
        """A matcher at the start of a text."""
        ...

    def events(self) -> EventSource:
        """What reads the events of one text."""
        ...
