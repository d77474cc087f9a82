"""Masks within a budget: only tokens after which the text can still be completed in time; and the
fewest tokens of any text of a grammar, as far as a bounded search finds them."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.errors import BudgetError, LimitError, TooLongError, UnspellableError, amount
from maskwright.limits import MEASURED, spend
from maskwright.mask.budget.token_costs import TokenCosts
from maskwright.mask.budget.verdicts import verdicts
from maskwright.mask.position import UNKNOWN, Position
from maskwright.mask.shared.budget_cache import NO_TOKEN, MasksByBudget
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walker import TokenGroups, Walker

MOST_TRIES: Final = 300
"""Configurations expanded in search of a text with fewer tokens."""
_BYTES_A_STEP: Final = 16
"""Bytes whose tokens are counted in some 15 microseconds."""
MOST_COMPARED: Final = 400
"""The longest tokens, which are compared at each place of a dive."""


def least_tokens(costs: TokenCosts, start: Configuration, enough: int) -> int:
    """The fewest tokens found for a text from `start`, the configuration of an empty text; where
    they are more than `enough`, fewer may exist.

    The shortest text in bytes is not always the one with the fewest tokens. So where it takes more
    than `enough`, others are tried. What is found is remembered, so that masks within a budget lead
    there.
    """
    best = costs.tokens_needed(start)
    for apart in (True, False):
        if best > enough:
            best = _by_dive(costs, start, enough, best, apart=apart)
    return best if best <= enough else _by_search(costs, start, enough, best)


def _by_dive(
    costs: TokenCosts, start: Configuration, enough: int, best: int, *, apart: bool
) -> int:
    """The tokens of a text in which each token leaves the fewest bytes to be read, as far as some
    of the longest tokens show; from the place on where that takes fewer, of the shortest ending.

    Where hundreds of characters have to come and nearly any will do, this is near the least, and
    no more configurations are met than there are places in the text.

    `apart`: without tokens that share a byte with what has to come. Where places are counted from
    some character on (`.*a.{300}`), each that comes more makes states larger.
    """
    vocabulary, advance = costs.walker.tables.vocabulary, costs.walker.recognizer.advance
    by_length = _longest(costs)
    bytes_of = {each: frozenset(vocabulary.spellings[each]) for each in by_length}
    here, text, steps = start, b"", list[int]()
    rest = costs.shortest(here, text)
    found: tuple[int, list[int], bytes] | None = None
    """Tokens of the best way so far, those of the dive on it, and the bytes after these."""
    try:
        while rest and len(steps) < enough:
            spend(1 + len(rest) // _BYTES_A_STEP)
            tried, coming = by_length, frozenset(rest)
            if apart:
                tried = [each for each in by_length if bytes_of[each].isdisjoint(coming)]
            token = _most_progress(costs, here, text, rest, tried)
            token = vocabulary.first_of(rest) if token is None else token
            following = advance(here, vocabulary.spellings[token], text)
            if following is None:
                break
            here, text = following, text + vocabulary.spellings[token]
            steps.append(token)
            rest = costs.shortest(here, text)
            tokens = len(steps) + vocabulary.fewest_count(rest)
            if tokens < (best if found is None else found[0]):
                found = tokens, [*steps], rest
    except UnspellableError:
        pass
    if found is None:
        return best
    tokens, begun, rest = found
    way = [*begun, *vocabulary.spelled(rest)]
    return tokens if costs.record_way(start, b"", way) else best


def _most_progress(
    costs: TokenCosts,
    here: Configuration,
    text: bytes,
    rest: bytes,
    tokens: list[int],
) -> int | None:
    """Of some tokens, from the longest on, the one that leaves the fewest bytes; None if none of
    them leaves fewer than the `rest` that has to come now.

    No token of n bytes leaves fewer than n bytes less, or there would be a shorter text. Masks are
    not asked: at a place where counters are read, each takes hundreds of new states.
    """
    spellings, advance = costs.walker.tables.vocabulary.spellings, costs.walker.recognizer.advance
    best, most = None, 0
    left: dict[Configuration, int] = {}
    """The bytes that have to come after a token, where that depends on its target alone."""
    for token in tokens:
        data = spellings[token]
        if len(data) <= most:
            break
        following = advance(here, data, text)
        if following is None:
            continue
        after = left.get(following)
        if after is None:
            after = len(costs.shortest(following, text + data))
            if costs.is_fixed(following):
                left[following] = after
        progress = len(rest) - after
        if progress > most:
            best, most = token, progress
    return best


def _longest(costs: TokenCosts) -> list[int]:
    """The longest tokens, from the longest on."""
    lengths = np.fromiter(map(len, costs.walker.tables.vocabulary.spellings), np.int64)
    return np.argsort(-lengths, kind="stable")[:MOST_COMPARED].tolist()


def _by_search(costs: TokenCosts, start: Configuration, enough: int, best: int) -> int:
    """The tokens of a text found by a best-first search, the most promising beginnings first (by
    the tokens so far and a lower bound on the rest: its bytes by the length of the longest
    token)."""
    tables = costs.walker.tables
    spellings, longest = tables.vocabulary.spellings, tables.trie.height
    tie = count()
    queue: list[tuple[int, int, int, Configuration, bytes, tuple[int, ...]]]
    queue = [(0, 0, next(tie), start, b"", ())]
    seen: set[Configuration] = set()
    for _ in range(MOST_TRIES):
        if not queue or best <= enough:
            break
        _, _, _, here, prefix, path = heappop(queue)
        if here in seen or len(path) + 1 >= best:
            continue
        seen.add(here)
        for following, token in costs.successors(here, prefix):
            text = prefix + spellings[token]
            left = len(costs.shortest(following, text))
            steps = (*path, token)
            if left == 0 and costs.record_way(start, b"", steps):
                best = min(best, len(steps))
            bound = len(steps) + -(-left // longest)
            if bound < best:
                heappush(queue, (bound, left, next(tie), following, text, steps))
    return best


MOST_TARGETS: Final = 2_048
"""Successors of a position for which its masks under every budget are computed at once."""


class BudgetMasks:
    """The masks of one grammar's positions under a budget, computed when asked for."""

    def __init__(self, walker: Walker, costs: TokenCosts, *, may_search: bool = True) -> None:
        """`may_search`: whether texts of few tokens may be searched for, which doesn't heed bounds
        on the tokens of parts."""
        self.costs: Final = costs
        self._walker = walker
        self._recognizer = walker.recognizer
        self._tables = walker.tables
        self._cache = costs.cache
        self._brought = 0
        self._may_search = may_search
        self._sought = 0
        """The most tokens within which a text was searched for in vain."""

    @property
    def size(self) -> int:
        """Bytes of the masks that are remembered because this grammar asked for them."""
        return min(self._brought, self._cache.mask_bytes)

    def fill(
        self,
        position: Position,
        budget: int,
        out: npt.NDArray[np.int32],
        prefix: bytes,
        steps: Sequence[int | bytes],
    ) -> None:
        """Write the mask at a position (int32 [words]) for a text that may go on for `budget`
        tokens; `prefix` is the text so far, `steps` are its tokens. Raises `BudgetError` if nothing
        is allowed."""
        if position.sufficient_budget == UNKNOWN:
            self._walker.measure(position, lambda: prefix)
        if budget >= position.sufficient_budget:
            out[:] = self._tables.rows[position.row]
            return
        by_budget = self._cache.masks.get(position)
        if by_budget is not None and by_budget.fill(budget, out):
            return  # nothing has to be counted
        if self._fill(position, budget, out, prefix, steps):
            return
        if not steps and budget > self._sought:
            if self.least_tokens(budget) > budget:
                self._sought = budget
            elif self._fill(position, budget, out, prefix, steps):
                return
        needed = self.costs.tokens_needed(position.configuration, prefix)
        raise BudgetError(
            f"a budget of {amount(budget, 'token')} is too small to complete the text: the "
            f"shortest way that was found needs {needed:,}",
            needed=needed,
        )

    def _fill(
        self,
        position: Position,
        budget: int,
        out: npt.NDArray[np.int32],
        prefix: bytes,
        steps: Sequence[int | bytes],
    ) -> bool:
        """Do as `fill` with what is known of texts with few tokens; False if nothing is allowed."""
        with self._recognizer:
            by_budget = self._masks_by_budget(position, prefix)
            if by_budget is not None and by_budget.fill(budget, out):
                return True
            # Remembered masks count some tokens by a bound that other texts may stay below.
            out[:] = self._tables.rows[position.row]
            self._refuse_too_long(position, budget, out, prefix)
            if out.any():
                return True
            token = self._recalled(position.configuration, budget, prefix, steps)
            if token != NO_TOKEN:
                out[token >> 5] |= np.int32(1) << np.int32(token & 31)
            return token != NO_TOKEN

    def least_tokens(self, enough: int) -> int:
        """The fewest tokens found for any text. Where the text with the fewest bytes needs more
        than `enough`, other texts are tried, and masks within a budget lead to what is found."""
        start = self._recognizer.start
        if not self._may_search:
            return self.costs.tokens_needed(start)
        try:
            with self._recognizer:  # all of the search is one question
                return least_tokens(self.costs, start, enough)
        except LimitError as error:
            if error.limit in MEASURED:
                raise
            return self.costs.tokens_needed(start)  # of what has been found so far

    def _recalled(
        self, here: Configuration, budget: int, prefix: bytes, steps: Sequence[int | bytes]
    ) -> int:
        """The next token of a way that was known when the last token was allowed, and has been
        forgotten since, as there is room for so many texts only, or in another process; NO_TOKEN if
        there is none. All ways that may have been counted on are found again in their order."""
        costs = self.costs
        costs.count_anew(here, prefix)
        token = costs.first_on_way(here, prefix, budget)
        if token != NO_TOKEN or not steps:
            return token
        at, text, left = self._recognizer.start, b"", budget + len(steps)
        if self._may_search and costs.tokens_needed(at) > left:
            least_tokens(costs, at, left)
        for step in steps:
            data = step if isinstance(step, bytes) else self._tables.vocabulary.spellings[step]
            following = self._recognizer.advance(at, data, text)
            if following is None:
                return NO_TOKEN  # bytes that were read one by one
            self._cache.forget(costs.place(following, text + data))
            costs.count_anew(at, text)
            costs.first_on_way(at, text, left)
            at, text, left = following, text + data, left - 1
        costs.count_anew(here, prefix)
        return costs.first_on_way(here, prefix, budget)

    def scope(self, position: Position, budget: int) -> tuple[int, int, bool]:
        """The lowest and the highest budget under which a mask that has been filled under `budget`
        stays what it is, and whether it does so for every text at the position."""
        if budget >= position.sufficient_budget:
            return position.sufficient_budget, UNKNOWN, True
        masks = self._cache.masks.get(position)
        if masks is None or not masks.mask(budget).any():
            return budget, budget, False
        return *masks.scope(budget), True

    def _masks_by_budget(self, position: Position, prefix: bytes) -> MasksByBudget | None:
        """The masks of a position under every budget, remembered; None where they are found for
        each budget anew."""
        shared = self._shared_position(position)
        if shared is None:
            return None
        if shared in self._cache.masks:
            masks = self._cache.masks[shared]
        else:
            masks = self._compute_masks(shared, prefix)
            self._brought += 0 if masks is None else masks.rows.nbytes
            self._cache.keep_masks(shared, masks)
        if masks is not None and masks.names_matter and shared is not position:
            return None
        if masks is not None and masks.has_all:
            position.sufficient_budget = min(position.sufficient_budget, 1 + masks.needs[-1])
        return masks

    def _shared_position(self, position: Position) -> Position | None:
        """The position, without the names read that make no difference, that has the same masks
        as `position`; None if few texts ever come to one with these names."""
        here = position.configuration
        plain = self.costs.places.plain(here)
        if self.costs.places.has_names(plain):
            return None
        if plain == here:
            return position
        shared = self._recognizer.position(plain)
        self._walker.find(shared, bytes)
        return shared if shared.row == position.row else None

    def _compute_masks(self, position: Position, prefix: bytes) -> MasksByBudget | None:
        """The masks of a position under every budget; None where the text makes a difference to
        them, or there are too many successors."""
        costs, here = self.costs, position.configuration
        if costs.places.depends_on_text(here) or not self._tables.parts.has_every_byte:
            return None
        groups = self._walker.tokens_needing_more_than(here, -1)
        if not 0 < len(groups.targets) <= MOST_TARGETS:
            return None
        found = groups.representatives()
        needs = self._needs_after(here, found, prefix)
        if needs is None:
            return None
        names_matter = any(
            needed < ENDLESS and costs.places.needs_new_name(target)
            for needed, (target, _) in zip(needs, found, strict=True)
        )
        row, per_token = self._tables.rows[position.row], np.array(needs)[groups.group]
        return MasksByBudget.of(
            row, groups.tokens, per_token, never=ENDLESS, names_matter=names_matter
        )

    def _needs_after(
        self, here: Configuration, found: list[tuple[Configuration, int]], prefix: bytes
    ) -> list[int] | None:
        """The tokens that are needed after each token of `found`, which leads from `here` to its
        configuration: `ENDLESS` where the completion is too long to be written out. None where the
        text may make a difference."""
        costs, needs = self.costs, [ENDLESS] * len(found)
        counted: list[tuple[int, bytes, int]] = []
        for at, (target, token) in enumerate(found):
            if costs.places.depends_on_text(target):
                return None
            spelling = self._tables.vocabulary.spellings[token]
            text = prefix + spelling
            try:
                if (
                    costs.places.shares_costs(here, target)
                    or self._recognizer.advance(here, spelling, prefix) == target
                ):
                    counted.append((len(costs.shortest(target, text)), text, at))
                    if not costs.is_fixed(target):  # which the shortest completion has shown
                        return None
                    continue
                # It ends a name that the walk passed without the text, which may come again.
                needs[at] = self._walker.bound(target)
                if needs[at] >= ENDLESS:
                    return None
            except TooLongError:
                continue
        # A way is counted from a place on it where that has been counted. So the shortest ways come
        # first: needs would depend on the numbers of states otherwise.
        for _, text, at in sorted(counted):
            try:
                needs[at] = costs.counted(found[at][0], text)
            except TooLongError:
                continue
        return needs

    def _refuse_too_long(
        self, position: Position, budget: int, out: npt.NDArray[np.int32], prefix: bytes
    ) -> None:
        """Take the tokens out of a mask after which the text can't be completed in time."""
        costs, here = self.costs, position.configuration
        groups = self._walker.tokens_needing_more_than(here, budget - 1)
        fits = self._which_fit(here, groups, budget, prefix)
        if fits.all():
            if not costs.places.depends_on_text(here) and all(map(costs.is_fixed, groups.targets)):
                position.sufficient_budget = min(position.sufficient_budget, budget)
            return
        refused = groups.tokens[~fits]
        np.bitwise_and.at(out, refused >> 5, ~(np.int32(1) << (refused & 31)))

    def _which_fit(
        self, here: Configuration, groups: TokenGroups, budget: int, prefix: bytes
    ) -> npt.NDArray[np.bool_]:
        """For each token whether the text can be completed after it within the budget."""
        costs = self.costs

        def fits(target: Configuration, text: bytes, margin: int) -> bool:
            return costs.fits(target, text, budget - 1 - margin)

        fitting = verdicts(costs, here, prefix, groups, fits)
        if not fitting.all() or not isinstance(costs.place(here, prefix), Configuration):
            # Not every token was checked, or the way that was counted may not be the one from its
            # next place on; the token on the known way stays allowed for certain.
            fitting |= groups.tokens == costs.first_on_way(here, prefix, budget)
        return fitting
