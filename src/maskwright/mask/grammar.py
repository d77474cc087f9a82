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
    """A compiled grammar. It is immutable for its users and thread-safe; it caches what its
    matchers compute.

    `report`: what was done with each keyword of a schema. `vocabulary`: the vocabulary for which
    the grammar was compiled.
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
        """Estimated bytes that this grammar has added to the shared tables so far. It grows while
        texts are matched."""
        recognizer = self.recognizer
        added = POSITION_BYTES * recognizer.new_positions + EXIT_BYTES * recognizer.new_exits
        return _OWN_BYTES + added + self.budgets.size

    def matcher(self) -> Matcher:
        """Return a matcher for a new text."""
        if self._counts is None:
            return Matcher(self.walker, self.budgets)
        return CountingMatcher(self.walker, self.budgets, self._counts)

    @property
    def min_tokens(self) -> int:
        """An upper bound on the tokens of some text: those of the text with the fewest bytes."""
        return self.budgets.costs.tokens_needed(self.recognizer.start)

    def least_tokens(self, enough: int) -> int:
        """Return the fewest tokens found for any text. If the text with the fewest bytes needs more
        than `enough` tokens, other texts are tried as well."""
        if self._counts is not None:  # another text might exceed a bound on its tokens
            return self.min_tokens
        with self.recognizer.tables.lock:
            return least_tokens(self.budgets.costs, self.recognizer.start, enough)


def _token_counts(recognizer: Recognizer) -> TokenCounts | None:
    """The counts of bounded texts; None if the number of tokens of no text is bounded."""
    contexts = recognizer.machine.contexts
    if isinstance(contexts, RuleContexts) and contexts.network.counts_tokens:
        return TokenCounts(recognizer, contexts)
    return None
