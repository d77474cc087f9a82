"""The token-level automaton of a grammar as a compact table: states, masks, and where tokens lead.

A state is a position of the grammar and the rest of the text that is being forced there, if any.
The table may be a part of the automaton: where something isn't known, or a bound was reached, a
move leads to `STOPPED`, and the grammar itself is followed from there.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from maskwright.immutable import Immutable
from maskwright.mask.matcher.protocol import NOTHING_FORCED, ForcedRun
from maskwright.sampling import Mask, SampleRow

STOPPED: Final = -1
"""The state of a text that the table doesn't follow."""

MOST_NEED: Final = 2**31 - 1

MOST_LAST: Final = 8
"""Tokens that may end a row's answer."""

StateKey = tuple[Hashable, tuple[int, ...]]
"""A position, and the forced tokens that are still to come."""


class Moves(NamedTuple):
    """Where tokens lead, as far as it is known: token `tokens[i]` to `targets[groups[i]]`, which is
    None where the text ends. `tokens`: int32 `[n]`, each once; `groups`: integers `[n]`."""

    tokens: npt.NDArray[np.int32]
    groups: npt.NDArray[np.intp]
    targets: Sequence[Site | None]


class Site(Protocol):
    """A position of a grammar, and what is known about it whatever the text before."""

    @property
    def key(self) -> Hashable:
        """What equal positions have in common."""
        ...

    @property
    def complete(self) -> bool:
        """Whether nothing but an end token may follow."""
        ...

    def run(self) -> ForcedRun | None:
        """The forced run, without tokens if nothing is forced; None if it isn't known."""
        ...

    def mask(self) -> tuple[Mask, int] | None:
        """The mask, and the least budget under which it holds; None if it isn't known."""
        ...

    def after(self, token: int) -> Site | None:
        """Where a token leads; None if that isn't known."""
        ...

    def moves(self) -> Moves:
        """Where tokens lead, as far as it is known."""
        ...


class Bounds(Immutable):
    """How large a table may become, and how long its making may take. `moves`: tokens whose way is
    looked up, of all states together."""

    states: int = 2_048
    moves: int = 1 << 17
    mask_bytes: int = 16 << 20
    seconds: float = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class TokenAutomaton:
    """The table. It can't be changed.

    - `rows`: the masks, each once; of each state, `mask` int32 `[states]` is the number of its own.
    - `needs` int32 `[states]`: the fewest tokens that must be left for the state to hold.
    - `others` int32 `[states]`: the state to which allowed tokens lead that have no move.
    - `starts` int32 `[states + 1]`: where the moves of each state begin in `tokens` int32
      `[moves]`, ascending in each state, and `targets` int32 `[moves]`.
    - `rests`: of each state, the forced tokens that are still to come.
    - `states`: the number of a state by its key.
    - `whole`: nothing was left out because of a bound or because it wasn't known.
    """

    rows: tuple[Mask, ...]
    mask: npt.NDArray[np.int32]
    needs: npt.NDArray[np.int32]
    others: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    tokens: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    rests: tuple[tuple[int, ...], ...]
    states: dict[StateKey, int]
    whole: bool

    def state(self, key: Hashable, rest: tuple[int, ...]) -> int:
        """The state of a text at the position `key` where the tokens of `rest` are forced next."""
        return self.states.get((key, rest), STOPPED)


def tabulate(
    start: Site,
    *,
    canonical: bool,
    bounds: Bounds | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TokenAutomaton:
    """Follow the automaton from `start` on, the nearest positions first. `canonical`: text that the
    grammar forces is written without asking the model."""
    table = _GrowingTable(canonical, bounds or Bounds(), clock)
    table.state(start)
    return table.finish()


NO_TOKENS: Final = np.empty(0, np.int32)
_Ways: TypeAlias = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], int]
"""Tokens, where each leads, and where the other allowed ones do."""


class _GrowingTable:
    """The table while it is made."""

    def __init__(self, canonical: bool, bounds: Bounds, clock: Callable[[], float]) -> None:
        self._canonical = canonical
        self._bounds = bounds
        self._clock = clock
        self._until = clock() + bounds.seconds
        self._states: dict[StateKey, int] = {}
        self._rests: list[tuple[int, ...]] = []
        self._mask: list[int] = []
        self._needs: list[int] = []
        self._rows: list[Mask] = []
        self._row_numbers: dict[bytes, int] = {}
        self._moves: list[_Ways] = []
        self._moved = 0
        self._todo: deque[tuple[Site, tuple[int, ...]]] = deque()
        """States whose moves are still to be found, in the order of their numbers."""
        self._whole = True

    def state(self, site: Site) -> int:
        """The number of the state at `site`; its moves are found later."""
        if site.complete:
            return STOPPED
        run = site.run() if self._canonical else NOTHING_FORCED
        if run is None:
            return self._leave_out()
        known = self._states.get((site.key, run.tokens))
        if known is not None:
            return known
        return self._forced(site, run) if run.tokens else self._open(site)

    def _open(self, site: Site) -> int:
        """A new state at which the model chooses."""
        found = site.mask()
        if found is None:
            return self._leave_out()
        mask, needs = found
        return self._add(site, (), mask, max(needs, 1))

    def _forced(self, site: Site, run: ForcedRun) -> int:
        """The first of new states along a forced run; none if the way isn't known to its end."""
        words, sites = self._words(site), [site]
        for token in run.tokens:
            following = sites[-1].after(token)
            if following is None or words is None:
                return self._leave_out()
            sites.append(following)
        numbers: list[int] = []
        for at, token in enumerate(run.tokens):
            rest = run.tokens[at:]
            number = self._states.get((sites[at].key, rest))
            if number is None:
                assert words is not None
                number = self._add(sites[at], rest, _only(token, words), len(rest) + run.needs)
            numbers.append(number)
        return numbers[0]

    def _words(self, site: Site) -> int | None:
        """The words of a mask."""
        if self._rows:
            return len(self._rows[0])
        found = site.mask()
        return None if found is None else len(found[0])

    def _add(self, site: Site, rest: tuple[int, ...], mask: Mask, needs: int) -> int:
        row, bounds = self._row(mask), self._bounds
        if (
            len(self._mask) >= bounds.states
            or self._moved >= bounds.moves
            or 4 * len(mask) * len(self._rows) > bounds.mask_bytes
            or needs > MOST_NEED
            or self._clock() > self._until
        ):
            return self._leave_out()
        number = self._states[site.key, rest] = len(self._mask)
        self._rests.append(rest)
        self._mask.append(row)
        self._needs.append(needs)
        self._todo.append((site, rest))
        return number

    def _row(self, mask: Mask) -> int:
        number = self._row_numbers.setdefault(mask.tobytes(), len(self._rows))
        if number == len(self._rows):
            row = mask.copy()
            row.setflags(write=False)
            self._rows.append(row)
        return number

    def _leave_out(self) -> int:
        self._whole = False
        return STOPPED

    def finish(self) -> TokenAutomaton:
        """Find the moves of all states, which brings further ones, and return the table."""
        while self._todo:
            site, rest = self._todo.popleft()
            if rest:
                moves = NO_TOKENS, NO_TOKENS, self._go_on(site, rest)
            elif self._moved >= self._bounds.moves or self._clock() > self._until:
                moves = NO_TOKENS, NO_TOKENS, self._leave_out()
            else:
                moves = self._choose(site, self._rows[self._mask[len(self._moves)]])
            self._moves.append(moves)
        sizes = [len(tokens) for tokens, _, _ in self._moves]
        return TokenAutomaton(
            rows=tuple(self._rows),
            mask=_column(self._mask),
            needs=_column(self._needs),
            others=_column([other for _, _, other in self._moves]),
            starts=_column([0, *np.cumsum(sizes, dtype=np.int64).tolist()]),
            tokens=np.concatenate([NO_TOKENS, *(tokens for tokens, _, _ in self._moves)]),
            targets=np.concatenate([NO_TOKENS, *(targets for _, targets, _ in self._moves)]),
            rests=tuple(self._rests),
            states=self._states,
            whole=self._whole,
        )

    def _go_on(self, site: Site, rest: tuple[int, ...]) -> int:
        """The state after the next forced token."""
        following = site.after(rest[0])
        assert following is not None, "a way that was known"
        if rest[1:]:
            return self._states.get((following.key, rest[1:]), STOPPED)
        return self.state(following)

    def _choose(self, site: Site, mask: Mask) -> _Ways:
        """The moves of a state at which the model chooses. The place to which most allowed tokens
        lead needs none."""
        tokens, groups, sites = site.moves()
        self._moved += len(tokens)
        numbers = np.array(
            [STOPPED if each is None else self.state(each) for each in sites], np.int32
        )
        allowed = allowed_by(mask)
        targets = np.full(32 * len(mask), STOPPED - 1, np.int32)  # unknown
        targets[tokens] = numbers[groups] if len(tokens) else STOPPED
        targets = targets[allowed]
        self._whole = self._whole and not (targets < STOPPED).any()
        targets = np.maximum(targets, STOPPED)
        most = Counter(targets.tolist()).most_common(1)
        other = most[0][0] if most else STOPPED
        apart = targets != other
        return allowed[apart], targets[apart], other


def allowed_by(mask: Mask) -> npt.NDArray[np.int32]:
    """The tokens that a mask allows, ascending."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).astype(np.int32)


def _only(token: int, words: int) -> Mask:
    """The mask that allows one token."""
    mask = np.zeros(words, np.int32)
    mask[token // 32] = np.uint32(1 << token % 32).astype(np.int32)
    return mask


def _column(values: Sequence[int]) -> npt.NDArray[np.int32]:
    return np.array(values, np.int32)


def free_automaton(words: Mask) -> TokenAutomaton:
    """The table of a text without a grammar, under the mask `words`: one state."""
    return TokenAutomaton(
        rows=(words,),
        mask=_column([0]),
        needs=_column([1]),
        others=_column([0]),
        starts=_column([0, 0]),
        tokens=NO_TOKENS,
        targets=NO_TOKENS,
        rests=((),),
        states={(None, ()): 0},
        whole=True,
    )


class AheadRow(Immutable):
    """A row that is decoded on the device: the `automaton` that it follows and its `state` there,
    the parameters of its draws, the tokens that it may still draw (`left`), and those that end its
    answer (`last`, at most `MOST_LAST`)."""

    automaton: TokenAutomaton
    state: int
    sample: SampleRow
    left: int
    last: Sequence[int]
