"""A compiled grammar: what a compiler returns, and what matchers start from."""

from __future__ import annotations

from typing import Final

from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.grammar.schema.tree import Report
from maskwright.mask.budget.least_tokens import least_tokens
from maskwright.mask.budget.masks import BudgetMasks
from maskwright.mask.budget.spellable import SpellableWalker
from maskwright.mask.budget.token_costs import TokenCosts
from maskwright.mask.matcher.counting import CountingMatcher
from maskwright.mask.matcher.matcher import Matcher
from maskwright.mask.matcher.token_counts import TokenCounts
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.shared.machine import EXIT_BYTES, POSITION_BYTES, SharedMachine
from maskwright.mask.shared.vocabulary_tables import VocabularyTables
from maskwright.mask.walker import Walker

_OWN_BYTES: Final = 4_000


class Grammar:
    """Immutable to its users and thread-safe; it remembers what its matchers compute.

    `report` says what was done with each keyword, `vocabulary` is the one it was compiled for.
    """

    def __init__(
        self,
        tables: VocabularyTables,
        shared: SharedMachine,
        start: tuple[int, int],
        report: Report,
    ) -> None:
        """`start`: the context and the leaf state in which every text begins. Raises
        `UnspellableError` if the vocabulary can't spell any text."""
        self.report: Final = report
        self.vocabulary: Final = tables.vocabulary
        self.recognizer: Final = Recognizer(tables, shared, start)
        self.walker: Walker = Walker(self.recognizer)
        costs = TokenCosts(self.walker)
        if not tables.has_every_byte:
            costs.tokens_needed(self.recognizer.start)
            self.walker = SpellableWalker(costs)
        self.budgets: Final = BudgetMasks(self.walker, costs)
        self._counts = _token_counts(self.recognizer)

    @property
    def size(self) -> int:
        """Estimated bytes that this grammar has added so far to what others had computed before. It
        grows as texts are matched."""
        recognizer = self.recognizer
        added = POSITION_BYTES * recognizer.new_positions + EXIT_BYTES * recognizer.new_exits
        return _OWN_BYTES + added + self.budgets.size

    def matcher(self) -> Matcher:
        """A matcher at the start of a text."""
        if self._counts is None:
            return Matcher(self.walker, self.budgets)
        return CountingMatcher(self.walker, self.budgets, self._counts)

    @property
    def min_tokens(self) -> int:
        """Tokens in which a text can certainly be written: those of the shortest one in bytes."""
        return self.budgets.costs.tokens_needed(self.recognizer.start)

    def least_tokens(self, enough: int) -> int:
        """The fewest tokens found for any text. Texts other than the shortest one in bytes are
        tried where that takes more than `enough` tokens."""
        if self._counts is not None:  # another text might exceed a bound on its tokens
            return self.min_tokens
        with self.recognizer.tables.lock:
            return least_tokens(self.budgets.costs, self.recognizer.start, enough)


def _token_counts(recognizer: Recognizer) -> TokenCounts | None:
    """None where no text is bounded by a number of tokens."""
    contexts = recognizer.machine.contexts
    if isinstance(contexts, RuleContexts) and contexts.network.counts_tokens:
        return TokenCounts(recognizer, contexts)
    return None
