"""Masks within a budget: only tokens after which the text can still be completed in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.errors import BudgetError, LimitError, TooLongError, amount
from maskwright.limits import MEASURED
from maskwright.mask.budget.least_tokens import least_tokens
from maskwright.mask.budget.token_costs import TokenCosts
from maskwright.mask.budget.verdicts import verdicts
from maskwright.mask.position import UNKNOWN, Position
from maskwright.mask.shared.budget_cache import NO_TOKEN, MasksByBudget
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walker import TokenGroups, Walker

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
        if (
            not steps
            and self._finds_text(budget)
            and self._fill(position, budget, out, prefix, steps)
        ):
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

    def _finds_text(self, enough: int) -> bool:
        """Whether a search finds a text of at most `enough` tokens; none is made that was in vain
        before."""
        if enough <= self._sought:
            return False
        if self.least_tokens(enough) <= enough:
            return True
        self._sought = enough
        return False

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
        if costs.places.depends_on_text(here) or not self._tables.has_every_byte:
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
