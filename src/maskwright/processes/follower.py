"""What the engine's process knows of a grammar that lives in a grammar process.

It is a token-level automaton that is learned as texts are written: positions, where tokens lead,
masks, and forced text. Along what is known a text moves without asking anybody.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeAlias

from maskwright.grammar.schema.tree import Report
from maskwright.mask import Event
from maskwright.mask.matcher.protocol import NOTHING_FORCED, EventSource, ForcedRun, Reply
from maskwright.processes.learned import LearnedPosition, Row, described_masks, new_bytes
from maskwright.processes.messages import OWN, Description, Expansion, Lesson, Parcel
from maskwright.processes.text_path import BudgetRow, TextPath
from maskwright.vocab import Vocabulary

POSITION_BYTES: Final = 700
"""Bytes of a learned position with its moves, estimated."""

MOST_BYTES: Final = 32 << 20
"""Bytes of one grammar that are remembered; beyond that it is learned afresh."""


PROVEN: Final = 8
"""Answers to questions about a grammar after which it is no longer taken for new."""

_numbers = itertools.count()
"""Of texts, of followers and of readers."""


class Taught(NamedTuple):
    """A lesson that a process gave, and the masks that it names."""

    process: int
    lesson: Lesson
    rows: dict[int, Row]


Heard: TypeAlias = Taught | Exception
"""What comes of a question."""


class Teacher(Protocol):
    """What answers for grammars: `processes.GrammarProcesses`."""

    def ask(
        self,
        follower: Follower,
        text: list[int],
        new: int,
        left: int,
        *,
        canonical: bool,
        then: Callable[[Heard], None],
    ) -> None:
        """Ask what comes next in a text whose last `new` tokens are not yet the follower's."""

    def look_ahead(self, follower: Follower, text: list[int]) -> None:
        """The text of a follower stands at a position that has not been expanded."""

    def least_tokens(self, grammar: FollowedGrammar, enough: int) -> Future[int]:
        """The fewest tokens of any text."""
        ...

    def events(
        self, reader: FollowedEvents, tokens: list[int], *, final: bool
    ) -> Future[list[Event]]:
        """The events of the next tokens."""
        ...

    def teach_again(self, grammar: FollowedGrammar) -> None:
        """What has been learned of a grammar was forgotten."""

    def forget(self, *, text: int) -> None:
        """The text of a follower or of a reader has ended, given by its number."""


class FollowedGrammar:
    """A compiled grammar that lives in a grammar process. Immutable to its users and thread-safe;
    what its followers learn is kept.

    `report` says what was done with each keyword, `vocabulary` is the one it was compiled for,
    `min_tokens` is as that of `mask.grammar.Grammar`.
    """

    def __init__(
        self, processes: Teacher, number: int, build: Parcel, vocabulary: Vocabulary
    ) -> None:
        self.processes: Final = processes
        self.number: Final = number
        self.build: Final = build
        self.vocabulary: Final = vocabulary
        self.report = Report((), ())
        self.min_tokens = 0
        self.heavy = False
        """Whether it needs a process of its own."""
        self.idle_seconds = 0.0
        """How long that process is kept without a job at least, if it has not grown large."""
        self.home = 0
        """Which of the shared processes has it otherwise."""
        self.lessons = 0
        """Questions that have been answered."""
        self.start: LearnedPosition | None = None
        self._positions: dict[tuple[int, int], LearnedPosition] = {}
        self._rows: dict[int, Row] = {}
        self._array_bytes = 0
        self._least: dict[int, int] = {}

    @property
    def size(self) -> int:
        """Estimated bytes of what has been learned."""
        return POSITION_BYTES * (1 + len(self._positions)) + self._array_bytes

    @property
    def is_proven(self) -> bool:
        """Whether questions about it have been answered often enough to trust that it is light."""
        return self.lessons >= PROVEN

    def matcher(self) -> Follower:
        """A follower at the start of a text."""
        return Follower(self)

    def events(self) -> EventSource:
        """What reads the events of a text in a grammar process."""
        return FollowedEvents(self)

    def least_tokens(self, enough: int) -> int:
        """The fewest tokens found for any text; see `mask.grammar.Grammar.least_tokens`."""
        if self.min_tokens <= enough:
            return self.min_tokens
        known = self._least.get(enough)
        if known is None:
            known = self._least[enough] = self.processes.least_tokens(self, enough).result()
        return known

    def forget(self) -> None:
        """Forget what has been learned; texts that are being written keep their positions."""
        self.start = None
        self._positions = {}
        self._rows = {}
        self._array_bytes = 0
        self.processes.teach_again(self)

    def take_in(self, process: int, expansion: Expansion, rows: dict[int, Row]) -> None:
        """Learn where tokens lead from a position; `rows` has the masks that the expansion names.
        Called in another thread than what follows texts."""
        if self.size > MOST_BYTES:
            return
        here = self.position(process, expansion.here)  # the lesson that led here may be on its way
        targets: list[LearnedPosition] = []
        for led in expansion.targets:
            target = self._learned(process, led.reached, rows)
            targets.append(target)
            for step in led.steps:
                following = self._learned(process, step.reached, rows)
                target.moves[step.token] = following
                target = following
        self._array_bytes += here.expand(
            expansion.tokens, expansion.groups, targets, whole=expansion.whole
        )

    def _learned(
        self, process: int, description: Description, rows: dict[int, Row]
    ) -> LearnedPosition:
        position = self.position(process, description)
        position.learn(description, rows)
        if description.row is not None:
            self.row(rows[description.row])
        return position

    def position(self, process: int, description: Description) -> LearnedPosition:
        """The position that a description of `process` is about."""
        if description.number == OWN:
            return LearnedPosition(description)
        key = (process, description.number)
        known = self._positions.get(key)
        if known is None:  # two threads learn
            known = self._positions.setdefault(key, LearnedPosition(description))
        return known

    def row(self, row: Row) -> Row:
        """Remember a mask; equal ones are one array."""
        known = self._rows.get(id(row))
        if known is None:
            known = self._rows[id(row)] = row
            self._array_bytes += new_bytes(row)
        return known


class Follower(TextPath[LearnedPosition]):
    """A position in a followed grammar, moved by tokens: a matcher whose knowledge comes from
    lessons. Where something has not been learned yet, `knows` is False, and `ask` asks for it.

    To be used from one thread at a time.
    """

    __slots__ = ("_own_masks", "_own_moves", "_own_runs", "closed",
                 "grammar", "number", "process", "spent", "synced")  # fmt: skip

    def __init__(self, grammar: FollowedGrammar) -> None:
        super().__init__(grammar.start)
        self.grammar: Final = grammar
        self.number: Final = next(_numbers)
        self.process = -1
        """The process that has read this text, by its number."""
        self.synced = 0
        """Tokens of the text that it has read."""
        self.closed = False
        self.spent = 0.0
        """Seconds of processor time that the text has taken in a process of its grammar's own."""
        # What holds for this text alone, by the number of tokens before it:
        self._own_moves: dict[int, tuple[int, LearnedPosition]] = {}
        self._own_runs: dict[int, ForcedRun] = {}
        self._own_masks: dict[int, BudgetRow] = {}

    # What a matcher tells

    @property
    def accepting(self) -> bool:
        """Whether the text so far is complete."""
        return self._path[-1].accepting

    @property
    def complete(self) -> bool:
        """Whether the text is complete and nothing but an end token may follow."""
        return bool(self._path) and self._path[-1].complete

    @property
    def known(self) -> bool:
        """Whether the present mask has been learned: always, where a mask may be filled."""
        return True

    @property
    def row(self) -> int:
        """The number of the present mask, as the grammar process counts them."""
        return self._path[-1].row_number

    @property
    def position(self) -> LearnedPosition:
        """Where the text stands."""
        return self._path[-1]

    @property
    def state(self) -> tuple[int, ...]:
        """Where the text stands, in the machine's numbers; equal texts have equal ones."""
        return self._path[-1].state

    def mask(self, budget: int) -> Row:
        """The mask (int32 `[words]`) of a text that may go on for `budget` tokens, which must have
        been learned. It is shared, and can't be written to."""
        here = self._path[-1]
        row = here.row if budget >= here.sufficient_budget else None  # what most masks are
        if row is None:
            row = self._mask(budget)
            assert row is not None, "a mask that has not been learned"
        return row

    def free_mask(self, budget: int, mask: Row) -> Row | None:
        """The mask without a budget, if that allows more than `mask`, the one under `budget`;
        otherwise None."""
        here = self._path[-1]
        if mask is here.row:
            return None
        found = here.within(budget) or self._own_masks.get(len(self._steps))
        if found is None or found.row is not mask:
            return None  # the free mask: another thread may have learned it anew meanwhile
        return None if found.free is mask else found.free

    def accept(self, token: int) -> bool:
        """Move on by a token; False, and nothing changes, if it is not known to be allowed."""
        following = self._path[-1].moves.get(token)
        if following is None:
            following = self._after(self._path[-1], len(self._steps), token)
            if following is None:
                return False
        self._path.append(following)
        self._steps.append(token)
        return True

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted tokens."""
        left = len(self._steps) - count
        del self._path[left + 1 :]
        del self._steps[left:]

    def forced_run(self) -> ForcedRun:
        """The forced tokens, and what comes after them, as far as they have been learned."""
        return self._run(len(self._steps), self._path[-1]) or NOTHING_FORCED

    def forced_tokens(self) -> list[int]:
        """The forced tokens as far as they have been learned."""
        return list(self.forced_run().tokens)

    def ends_within(self, left: int) -> bool:
        """Whether the text can be completed within `left` tokens: there is a mask then."""
        return self._mask(left) is not None

    # What has been learned

    def knows(self, tokens: Iterable[int], left: int, *, canonical: bool) -> bool:
        """Whether everything is known that is needed after `tokens`: where they lead, and the text
        that the grammar forces there, if that is wanted, and the mask at the end of it. `left`
        tokens may come after `tokens`."""
        if not self._path:
            return False
        here, at = self._path[-1], len(self._steps)
        for token in tokens:
            following = here.moves.get(token) or self._after(here, at, token)
            if following is None:
                return False
            here, at = following, at + 1
        while canonical and left and not here.complete:
            run = self._run(at, here)
            if run is None:
                return False
            if not run.within(left):
                break
            for token in run.tokens:
                following = self._after(here, at, token)
                if following is None:
                    return False
                here, at = following, at + 1
            left -= len(run.tokens)
        return here.complete or not left or self._mask_at(at, here, left) is not None

    def ask(
        self, tokens: list[int], left: int, *, canonical: bool, then: Callable[[Reply], None]
    ) -> None:
        """Ask the grammar process what `knows` lacks. `then` is called in another thread with what
        came of it: an error, or what takes the lesson in, to be called by the thread that uses this
        follower."""

        def answer(heard: Heard) -> None:
            then(heard if isinstance(heard, Exception) else partial(self._take_in, heard))

        text = [*self._steps, *tokens]
        self.grammar.processes.ask(self, text, len(tokens), left, canonical=canonical, then=answer)

    def look_ahead(self) -> None:
        """Have the grammar process find out where tokens lead from here, while the model computes;
        once for each position."""
        here = self._path[-1]
        if here.expands and not here.noted:
            here.noted = True
            self.grammar.processes.look_ahead(self, self._steps.copy())

    def close(self) -> None:
        """The text has ended: the grammar process may forget it."""
        self.closed = True
        if self.process >= 0:  # else none has read it, or whoever sends it sees that it has ended
            self.grammar.processes.forget(text=self.number)

    def _take_in(self, taught: Taught) -> None:
        """Learn from a lesson about the text so far and the tokens that come next."""
        process, lesson, rows = taught
        grammar, at = self.grammar, len(self._steps)
        if grammar.size > MOST_BYTES:
            grammar.forget()
        if not self._path:
            start = grammar.start = grammar.start or grammar.position(process, lesson.here)
            self._path.append(start)
        here, last = self._path[-1], lesson.here
        self._describe(here, at, last, rows)
        for step in lesson.steps:
            following = here.after(step.token)
            if following is None:
                following = grammar.position(process, step.reached)
                if step.shared:
                    here.moves[step.token] = following
                else:
                    self._own_moves[at] = step.token, following
            here, at, last = following, at + 1, step.reached
            self._describe(here, at, last, rows)
        here.noted |= last.row is not None  # the process continues from where it has sent a mask

    def _describe(
        self, here: LearnedPosition, at: int, description: Description, rows: dict[int, Row]
    ) -> None:
        run, mask = description.run, described_masks(description, rows)
        here.learn(description, rows)
        if run is not None and not run.shared:
            self._own_runs[at] = run
        if mask is None:
            return
        if mask.scope.shared:
            self.grammar.row(mask.row)
            self.grammar.row(mask.free)
        else:
            self._own_masks[at] = mask

    def _after(self, here: LearnedPosition, at: int, token: int) -> LearnedPosition | None:
        following = here.after(token)
        if following is None:
            own = self._own_moves.get(at)
            if own is not None and own[0] == token:
                return own[1]
        return following

    def _run(self, at: int, here: LearnedPosition) -> ForcedRun | None:
        return here.run if here.run is not None else self._own_runs.get(at)

    def _mask(self, budget: int) -> Row | None:
        return self._mask_at(len(self._steps), self._path[-1], budget)

    def _mask_at(self, at: int, here: LearnedPosition, budget: int) -> Row | None:
        row = here.mask(budget)
        if row is None:
            own = self._own_masks.get(at)
            if own is not None and own.holds(budget):
                return own.row
        return row


class FollowedEvents:
    """The events of one text, read some tokens at a time by the process in which its grammar
    lives."""

    def __init__(self, grammar: FollowedGrammar) -> None:
        self.grammar = grammar
        self.number = next(_numbers)
        self.process = -1
        """The process that has read this text, by its number."""
        self.synced = 0
        """Calls whose tokens it has read."""
        self.earlier: list[list[int]] = []
        """The tokens of all calls that have been answered."""
        weakref.finalize(self, grammar.processes.forget, text=self.number).atexit = False

    def read(self, token_ids: Sequence[int], *, final: bool) -> Future[list[Event]]:
        return self.grammar.processes.events(self, list(token_ids), final=final)
