"""`Matcher`, the only mutable object of a request: the position of its text in the grammar, the
tokens that must come next, whatever the model prefers, and the events of the text, which are
reported while the machine reads it (see `automaton.events`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import wraps
from typing import Any, Concatenate, Final, NoReturn, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from maskwright.automaton.events.captures import CaptureReader
from maskwright.automaton.events.events import Event
from maskwright.automaton.events.json import JsonReader, may_read_string
from maskwright.automaton.leaf import special_tokens as special
from maskwright.automaton.leaf.keys import Opened, ValueBegan
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.machine import Added
from maskwright.automaton.machine.trace import Left, MachineTrace
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.errors import InputError, LimitError, UnspellableError, named, whole_number
from maskwright.immutable import Immutable
from maskwright.mask.budget.masks import BudgetMasks
from maskwright.mask.matcher.protocol import NOTHING_FORCED, ForcedRun, Reply
from maskwright.mask.position import Position, PositionPath
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.walk.walk import PrecomputedMask
from maskwright.mask.walker import Walker

MOST_FORCED_BYTES: Final = 1024
"""Most forced bytes that one call returns."""


class ForcedText(Immutable):
    """The bytes with which every text continues from a position, and the configuration after
    them."""

    data: bytes
    end: Configuration


def forced_text(recognizer: Recognizer, here: Configuration, prefix: bytes) -> ForcedText:
    """Return the text that the grammar forces from `here` on, after the text `prefix`."""
    forced = bytearray()
    while len(forced) < MOST_FORCED_BYTES and (byte := recognizer.forced_byte(here)):
        following = recognizer.advance(here, byte, prefix + forced)
        if following is None:
            break
        forced += byte
        here = following
    return ForcedText(bytes(forced), here)


def canonical_tokens(recognizer: Recognizer, data: bytes) -> list[int]:
    """Return the canonical tokens of the forced bytes `data`, as far as the following text can't
    change them.

    The vocabulary's tokenizer divides the bytes into tokens. If the bytes from the beginning of
    some token on are a proper prefix of a longer token, the tokenizer might merge them with what
    follows. So that token and all after it are left out.
    """
    if not data:
        return []
    vocabulary = recognizer.vocabulary
    settled: list[int] = []
    parts = list(special.pieces(data))
    for number, (text, token_id) in enumerate(parts, start=1):
        if token_id is not None:
            settled.append(token_id)
            continue
        at, is_last = 0, number == len(parts)
        if is_last and vocabulary.siblings.continues(text):  # found out before dividing all of it
            break
        try:
            tokens = vocabulary.encode(text)
        except UnspellableError:  # the following text begins within a token
            break
        for token in tokens:
            if is_last and vocabulary.siblings.continues(text[at:]):
                break
            settled.append(token)
            at += len(vocabulary.tokens[token])
    return settled


class EventReader:
    """Reports the events of one text from its beginning. There is no second parser: events are
    derived from the leaves and contexts that the machine leaves and enters."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer
        self._trace = MachineTrace(recognizer.machine, recognizer.start)
        contexts = recognizer.machine.contexts
        self._contexts = contexts
        self._json = JsonReader(self._trace.text)
        self.ended = False
        """Whether the end of the text has been reported."""
        self._captures: CaptureReader | None = None
        if isinstance(contexts, RuleContexts) and contexts.network.has_captures:
            self._captures = CaptureReader(contexts, self._trace.text)

    @property
    def read(self) -> int:
        """The number of bytes read so far."""
        return len(self._trace.text)

    def go_on(self, data: bytes, *, ended: bool = False, final: bool = False) -> list[Event]:
        """Return the events of the next piece of the text, which the grammar must accept.

        `ended`: the text is complete after it. `final`: the text doesn't continue after it.
        """
        with self._recognizer:
            events: list[Event] = []
            for left in self._trace.read(data):
                events += self._left(left)
            if ended and not self.ended:
                self.ended = True
                for left in self._trace.end():
                    events += self._left(left)
            level = None if self._trace.done else self._contexts.level(self._trace.stack[-1])
            if level is not None and may_read_string(level):
                events += self._json.string_text(self.read)
            if self._captures is not None:
                events += self._captures.pieces(final=final)
            return events

    def _left(self, left: Left) -> Iterator[Event]:
        level = self._contexts.level(left.context)
        if isinstance(left.label, ValueBegan):
            yield from self._value_begun(left, left.label.data)
        elif level is not None and not isinstance(left.label, Opened):
            yield from self._json.left(level, left)
        if self._captures is not None:
            self._captures.left(left, self._trace.stack)
            yield from self._captures.boundaries()

    def _value_begun(self, left: Left, data: bytes) -> Iterator[Event]:
        """The events of the beginning of a JSON value, which has been read already."""
        start = left.at - len(data)
        self._json.begin(start)
        assert isinstance(self._contexts, RuleContexts)
        for each in self._contexts.value_beginning(left.context, data):
            level = self._contexts.level(each.context)
            assert level is not None
            yield from self._json.left(level, replace(each, at=start + each.at))


_INT32: Final = np.dtype(np.int32)


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _reading(
    method: Callable[Concatenate[Matcher, _P], _R],
) -> Callable[Concatenate[Matcher, _P], _R]:
    """Have what a method adds to the machine count for the matcher's own text, and a `LimitError`
    name the part of the grammar at which the text stands."""

    @wraps(method)
    def run(self: Matcher, *args: _P.args, **options: _P.kwargs) -> _R:
        recognizer = self.recognizer
        with recognizer.tables.lock:
            before, recognizer.for_text = recognizer.for_text, self.added
            try:
                return method(self, *args, **options)
            except LimitError as error:
                self.name_construct(error)
                raise
            finally:
                recognizer.for_text = before

    return run


class Matcher(PositionPath):
    """A text and its position in a grammar, which accepted tokens extend.

    Its whole state is the text and the position after each accepted token. So rolling back and
    forking are list operations, and equal texts give equal states. A matcher is not thread-safe,
    but different matchers of one grammar may be used in different threads.
    """

    __slots__ = (
        "_budgets",
        "_events",
        "_events_read",
        "_spelled",
        "_text",
        "_walker",
        "_words",
        "added",
        "recognizer",
    )

    def __init__(self, walker: Walker, budgets: BudgetMasks) -> None:
        tables = walker.tables
        super().__init__(
            walker.recognizer.first, walker.positions, tables.rows, tables.vocabulary.size
        )
        self._walker = walker
        self._budgets = budgets
        self.added = Added()
        """What this text has added to the machine."""
        self.recognizer: Final[Recognizer] = walker.recognizer
        """The recognizer whose machine reads the text."""
        self._words = (tables.vocabulary.words,)
        self._text = bytearray()
        self._spelled = 0
        """How many of the first steps `_text` spells."""
        self._events: EventReader | None = None
        self._events_read = 0
        """Bytes of the text whose events have been returned."""

    @property
    def known(self) -> bool:
        """Whether the current mask is known, from this text or another."""
        return self._path[-1].row >= 0

    @property
    def state(self) -> tuple[int, ...]:
        """The configuration of the machine after the text, with the number of the position where a
        configuration has several. Equal texts have equal states, and equal states equal masks."""
        here = self._path[-1]
        at = here.leaf, here.node
        return (*at, here.variant) if here.variant else at

    @property
    def position(self) -> Position:
        """Where the text stands; equal texts stand at one position."""
        return self._path[-1]

    @property
    def by_position(self) -> bool:
        """Whether masks without a budget, and what may follow, depend on the position alone."""
        return True

    @property
    @_reading
    def costs_depend_on_text(self) -> bool:
        """Whether the tokens that complete the text depend on what it says so far, and not on the
        position alone."""
        here = self._path[-1].configuration
        return self._budgets.costs.place(here, bytes(self._read())) != here

    def mask_scope(self, budget: int) -> tuple[int, int, bool]:
        """The lowest and the highest budget under which the mask is the one that has just been
        filled under `budget`; and whether that holds for every text at this position."""
        return self._budgets.scope(self._path[-1], budget)

    def _fill(self, out: npt.NDArray[np.int32], budget: int | None) -> None:
        """Do as `fill_mask`, where a budget may make a difference, and for objects of any kind."""
        if getattr(out, "dtype", None) != _INT32 or out.shape != self._words:
            raise ValueError(_no_row(out, self._words[0]))
        if budget is not None and type(budget) is not int:
            budget = whole_number(budget, "budget")
        here = self._path[-1]
        if budget is not None and budget < here.sufficient_budget:
            self._fill_within(here, budget, out)
        else:
            out[:] = self._rows[self.row]

    def mask(self, budget: int | None = None) -> npt.NDArray[np.int32]:
        """The mask, int32 [words]; see `fill_mask`."""
        mask = np.zeros(self._words, np.int32)
        self.fill_mask(mask, budget)
        return mask

    @_reading
    def _find_lacking(self, here: Position, stopped: PrecomputedMask | None) -> None:
        self._walker.find_lacking(self._read, here, stopped)

    @_reading
    def _fill_within(self, here: Position, budget: int, out: npt.NDArray[np.int32]) -> None:
        self._budgets.fill(here, budget, out, bytes(self._read()), self._steps)

    def _after_lacking(self, token: int) -> Position | None:
        recognizer, here = self.recognizer, self._path[-1]
        vocabulary = recognizer.vocabulary
        if not 0 <= token < vocabulary.size:
            raise InputError(
                f"token {token} is not in the vocabulary, whose ids are 0 to {vocabulary.size - 1}",
                param="token",
            )
        if here is recognizer.ended:
            return None
        if token in vocabulary.eos:
            return recognizer.ended if self._may_end(here) else None
        return self._found_after(here, token) if vocabulary.spellings[token] else None

    @_reading
    def _may_end(self, here: Position) -> bool:
        return self.recognizer.accepting(here.configuration)

    @_reading
    def _found_after(self, here: Position, token: int) -> Position | None:
        return self._walker.after(here, token, self._read)

    def _read(self) -> bytearray:
        """The text so far."""
        if self._spelled < len(self._steps):
            self._text += self._spelling(self._spelled, len(self._steps))
            self._spelled = len(self._steps)
        return self._text

    def _spelling(self, start: int, stop: int) -> bytes:
        """The bytes of some steps."""
        spellings = self.recognizer.vocabulary.spellings
        steps = self._steps[start:stop]
        return b"".join([step if isinstance(step, bytes) else spellings[step] for step in steps])

    def _unread(self, left: int) -> None:
        """Cut off the text after the first `left` steps, before those after them are removed."""
        if left < self._spelled:
            del self._text[len(self._text) - len(self._spelling(left, self._spelled)) :]
            self._spelled = left

    def accept_bytes(self, data: bytes) -> int:
        """Append as many of the bytes as the grammar allows, as one step; returns their number.

        Raises `InputError` for text, which has to be encoded.
        """
        if type(data) is not bytes:
            data = _as_bytes(data)
        return self._accept_bytes(data)

    @_reading
    def _accept_bytes(self, data: bytes) -> int:
        recognizer = self.recognizer
        if self._path[-1] is recognizer.ended:
            return 0
        text = bytes(self._read())
        here, taken = recognizer.read(self._path[-1].configuration, data, text)
        if taken:
            self._path.append(self._walker.position(here, text + data[:taken]))
            self._steps.append(data[:taken])
        return taken

    @property
    def accepting(self) -> bool:
        """Whether the text so far is complete."""
        here = self._path[-1]
        known = here.accepting
        return self._may_end(here) if known is None else known

    @property
    def complete(self) -> bool:
        """Whether the text is complete and nothing but an end token may follow."""
        here = self._path[-1]
        known = here.complete
        return self._is_complete() if known is None else known

    @_reading
    def _is_complete(self) -> bool:
        return self.recognizer.complete(self._path[-1])

    @property
    def terminated(self) -> bool:
        """Whether an end token has been accepted."""
        return self._path[-1] is self.recognizer.ended

    @property
    @_reading
    def min_tokens(self) -> int:
        """An upper bound on the tokens that complete the text, 0 if it is complete; the smallest
        `budget` that is known to suffice."""
        if self.terminated:
            return 0
        return self._budgets.costs.tokens_needed(self._path[-1].configuration, bytes(self._read()))

    @_reading
    def next_bytes(self) -> bytes:
        """The bytes that may come next, in ascending order."""
        if self.terminated:
            return b""
        here = self._path[-1]
        found = self.recognizer.next_bytes(here.configuration)
        if b'"' in here.excluded:
            return found.replace(b'"', b"")
        return found

    def forced_tokens(self) -> list[int]:
        """Return the tokens that must come next, whatever the model prefers, in the tokenizer's
        own division."""
        forced = self._forced_text()
        return [] if forced is None else canonical_tokens(self.recognizer, forced.data)

    def forced_run(self) -> ForcedRun:
        """The forced tokens, and what comes after them."""
        forced = self._forced_text()
        if forced is None:
            return NOTHING_FORCED
        run = canonical_tokens(self.recognizer, forced.data)
        whole = self.by_position and self._is_end(forced)
        taken, shared, complete, needs = 0, self.by_position, False, 0
        try:
            for token in run:
                before = self._path[-1]
                if not self.accept(token):
                    return NOTHING_FORCED._replace(whole=whole, shared=False)
                taken += 1
                shared = shared and before.moved(token) is self._path[-1]
            if run:
                complete = self.complete
                needs = 0 if complete else self.min_tokens
            if run or whole:
                shared = shared and not self.costs_depend_on_text
        finally:
            self.rollback(taken)
        return ForcedRun(tuple(run), complete, needs, whole, shared)

    def _forced_text(self) -> ForcedText | None:
        """The text that must come next, None if there is none."""
        here = self._path[-1]
        if self.terminated or here.forced_byte == b"":
            return None
        return self._find_forced_text()

    @_reading
    def _find_forced_text(self) -> ForcedText:
        here = self._path[-1].configuration
        return forced_text(self.recognizer, here, bytes(self._read()))

    @_reading
    def _is_end(self, forced: ForcedText) -> bool:
        """Whether the text is complete after what is forced."""
        return self.recognizer.complete(self.recognizer.position(forced.end))

    def free_mask(self, budget: int, mask: npt.NDArray[np.int32]) -> npt.NDArray[np.int32] | None:
        """The mask without a budget, int32 [words], if that allows more than `mask`, which has just
        been filled under `budget`; otherwise None."""
        if budget >= self._path[-1].sufficient_budget:
            return None
        free = self.mask()
        return None if np.array_equal(free, mask) else free

    def ends_within(self, left: int) -> bool:
        """Whether the text can certainly be completed within `left` tokens."""
        return self.min_tokens <= left

    def knows(self, tokens: Iterable[int], left: int, *, canonical: bool) -> bool:
        """Whether everything is known that is needed after `tokens`: always, since what is not
        known yet is computed when it is asked for. See `processes.follower` for another answer."""
        del tokens, left, canonical
        return True

    def ask(
        self, tokens: list[int], left: int, *, canonical: bool, then: Callable[[Reply], None]
    ) -> None:
        """Have found out what `knows` lacks, which is nothing."""
        del tokens, left, canonical
        then(lambda: None)

    def look_ahead(self) -> None:
        """Have found out where tokens lead from here: nothing, as it is computed when needed."""

    def close(self) -> None:
        """The text has ended: nothing, as nobody else knows of it."""

    def name_construct(self, error: LimitError) -> None:
        """Have an error name the part of the grammar at which the text stands."""
        here = self._path[-1].configuration
        self.recognizer.name_construct(error, here, bytes(self._read()))

    @_reading
    def events(self, *, final: bool = False) -> list[Event]:
        """Return the events of the text accepted since the last call: captures and the structure
        of JSON.

        How the text was divided into tokens and calls only changes where pieces of text are
        divided. `final`: the text doesn't continue, so events that were held back are returned
        too. Rolling back tokens doesn't take back events that were returned.
        """
        text, ended = bytes(self._read()), self.terminated or (final and self.accepting)
        reader = self._events
        # A reader can't continue after the end of a text, which may have been rolled back.
        if reader is None or (reader.ended and not (ended and reader.read == len(text))):
            reader = EventReader(self.recognizer)
            if self._events_read:
                reader.go_on(text[: self._events_read], ended=False)
        self._events = None  # Its state is inconsistent after an error.
        events = reader.go_on(text[reader.read :], ended=ended, final=final)
        self._events = reader
        self._events_read = reader.read
        return events

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted tokens. Raises `ValueError` if there were fewer,
        `InputError` if it is no whole number."""
        if type(count) is not int:
            count = whole_number(count, "count")
        left = len(self._steps) - count
        if count < 0 or left < 0:
            raise ValueError(f"can't roll back {count} of {len(self._steps)} tokens")
        self._unread(left)
        del self._path[left + 1 :]
        del self._steps[left:]
        self._events_read = min(self._events_read, len(self._text))
        if self._events is not None and self._events.read > len(self._text):
            self._events = None  # It has read bytes that were removed.

    def copy(self) -> Matcher:
        """Return an independent matcher with an equal text and position."""
        twin = Matcher(self._walker, self._budgets)
        twin._adopt(self)
        return twin

    def __copy__(self) -> Matcher:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Matcher:
        """As `copy`: what matchers share never changes in a way that one of them sees."""
        del memo
        return self.copy()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a matcher can't be pickled: pickle its grammar and the tokens that were accepted, and "
            "accept them in a new matcher of that grammar"
        )

    def _adopt(self, other: Matcher) -> None:
        """Take over the text and position of another matcher of the grammar."""
        self._path = other._path.copy()
        self._steps = other._steps.copy()
        self._text = other._text.copy()
        self._spelled = other._spelled
        self._events_read = other._events_read
        self.added = copy(other.added)

    def reset(self) -> None:
        """Return to the empty text."""
        self.__init__(self._walker, self._budgets)

    def __repr__(self) -> str:
        here = self._path[-1]
        at = "the end" if self.terminated else (here.leaf, here.node)
        return f"Matcher({len(self._steps)} tokens, at {at})"


def _as_bytes(data: Any) -> bytes:
    """What is no `bytes`, as such. Raises `InputError` for text and whatever holds no bytes."""
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    hint = ": encode the text as UTF-8" if isinstance(data, str) else ""
    raise InputError(f"data has to be bytes, not {named(data)}{hint}", param="data")


def _no_row(out: Any, words: int) -> str:
    """Why a mask can't be written to `out`, and what to pass."""
    dtype, shape = getattr(out, "dtype", None), getattr(out, "shape", None)
    if dtype is None:
        given, hint = type(out).__name__, f": pass np.empty({words}, np.int32)"
    else:
        given, hint = f"{dtype} {tuple(shape or ())}", ""
        if not isinstance(out, np.ndarray) and hasattr(out, "numpy"):
            hint = "; of a tensor on the CPU pass tensor.numpy(), which shares its memory"
        elif len(shape or ()) > 1:
            hint = "; pass one row at a time"
    return f"out must be an array of NumPy, int32 of shape ({words},), not {given}{hint}"
