"""A compiled grammar: what a compiler returns, and what matchers start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import RLock
from typing import Any, Final, TypeAlias

from maskwright.automaton.events.events import Event
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import Report
from maskwright.immutable import Immutable
from maskwright.mask.budget.masks import BudgetMasks
from maskwright.mask.budget.token_costs import TokenCosts
from maskwright.mask.budget.verdicts import SpellableWalker
from maskwright.mask.matcher.counting import CountingMatcher, TokenCounts
from maskwright.mask.matcher.matcher import Matcher
from maskwright.mask.matcher.protocol import EventSource
from maskwright.mask.recognizer import Beginning, Recognizer
from maskwright.mask.shared.generations import generations_of
from maskwright.mask.shared.machine import EXIT_BYTES, POSITION_BYTES
from maskwright.mask.walker import Walker

_OWN_BYTES: Final = 4_000

Recipe: TypeAlias = tuple[Callable[..., "Grammar"], tuple[Any, ...]]
"""A function and its arguments, which can be pickled and make an equal grammar."""


class Grammar:
    """A compiled grammar. It is immutable for its users and thread-safe; it caches what its
    matchers compute. It can be pickled, and is then compiled again where it is unpickled; grammars
    that are pickled together share their vocabulary.

    `report`: what was done with each keyword of a schema. `vocabulary`: the vocabulary for which
    the grammar was compiled.
    """

    def __init__(
        self, beginning: Beginning, report: Report, begin_again: Callable[[], Beginning]
    ) -> None:
        """`begin_again` says where texts begin over the tables that new grammars have now; it is
        called when the tables of `beginning` are retired or overgrown.

        Raises `UnspellableError` if the vocabulary can't spell any text.
        """
        self.report: Final = report
        self.vocabulary: Final = beginning.tables.vocabulary
        self._begin_again = begin_again
        self._lock = RLock()
        self._machinery = _Machinery.of(beginning)
        self._is_used = False
        self.written: bytes | None = None
        """The schema that it was compiled from (see `DocumentText.text`), where that is all."""
        self.recipe: Recipe | None = None
        """How the grammar is made again in another process, if it can be."""

    @property
    def recognizer(self) -> Recognizer:
        """Where bytes lead, in texts that begin now."""
        return self._machinery.recognizer

    @property
    def walker(self) -> Walker:
        """The masks, in texts that begin now."""
        return self._machinery.walker

    @property
    def budgets(self) -> BudgetMasks:
        """The masks under a budget, in texts that begin now."""
        return self._machinery.budgets

    @property
    def size(self) -> int:
        """Estimated bytes that this grammar has added to the shared tables so far. It grows while
        texts are matched."""
        recognizer = self.recognizer
        positions, exits = recognizer.positions.added, recognizer.added.exits
        added = POSITION_BYTES * positions + EXIT_BYTES * exits
        return _OWN_BYTES + added + self.budgets.size

    def matcher(self) -> Matcher:
        """Return a matcher for a new text.

        Matchers share what they compute, until that takes too much memory, or is forgotten because
        other grammars were used more recently. Then the new matcher starts with empty tables.
        """
        tables = self.recognizer.tables
        if tables.is_retired or (self._is_used and self.recognizer.is_overgrown):
            self._renew()
        elif self._is_used:
            generations_of(self.vocabulary).use_again(tables)
        self._is_used = True
        has = self._machinery
        if has.counts is None:
            return Matcher(has.walker, has.budgets)
        return CountingMatcher(has.walker, has.budgets, has.counts)

    def events(self) -> EventSource:
        """What reads the events of a new text."""
        return _MatchedEvents(self.matcher())

    def _renew(self) -> None:
        """Replace the tables for new texts; if a limit is exceeded, the old tables stay in use."""
        with self._lock:
            before = self._machinery.recognizer
            if before.is_overgrown and before.tables.shares(before.shared):
                generations_of(self.vocabulary).retire(before.tables)
            try:
                self._machinery = _Machinery.of(self._begin_again())
            except LimitError:
                return

    def find_first_mask(self) -> None:
        """Find the mask with which every text begins, after what must come first, and keep it.
        Raises the `LimitError` that would end every text there."""
        matcher = Matcher(self._machinery.walker, self._machinery.budgets)
        if all(map(matcher.accept, matcher.forced_tokens())) and not matcher.complete:
            _ = matcher.row

    @property
    def min_tokens(self) -> int:
        """An upper bound on the tokens of some text: as many as the text of fewest bytes has."""
        start = self.recognizer.start
        try:
            return self.budgets.costs.tokens_needed(start)
        except LimitError as error:
            self.recognizer.name_construct(error, start, b"")
            raise

    def least_tokens(self, enough: int) -> int:
        """Return the fewest tokens found for any text. If the text with the fewest bytes needs more
        than `enough` tokens, other texts are tried as well."""
        try:
            return self.budgets.least_tokens(enough)
        except LimitError as error:
            self.recognizer.name_construct(error, self.recognizer.start, b"")
            raise

    def __copy__(self) -> Grammar:
        return self

    def __deepcopy__(self, memo: object) -> Grammar:
        """The grammar itself, which never changes for its users."""
        return self

    def __reduce__(self) -> Recipe:
        if self.recipe is None:
            raise TypeError(
                "the grammar can't be pickled, since what it was compiled from can't be: compile "
                "it from plain dicts, lists and texts, or pickle only its vocabulary and compile "
                "it in the other process"
            )
        return self.recipe


class _MatchedEvents:
    """The events of one text, read by a matcher in this process."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def read(self, token_ids: Sequence[int], *, final: bool) -> Future[list[Event]]:
        for token in token_ids:
            accepted = self._matcher.accept(token)
            assert accepted, "the engine sampled a token that the grammar forbids"
        events: Future[list[Event]] = Future()
        events.set_result(self._matcher.events(final=final))
        return events


class _Machinery(Immutable):
    """What computes the masks of texts that have begun in one machine."""

    recognizer: Recognizer
    walker: Walker
    budgets: BudgetMasks
    counts: TokenCounts | None
    """The counts of bounded texts; None if the number of tokens of no text is bounded."""

    @classmethod
    def of(cls, beginning: Beginning) -> _Machinery:
        recognizer = Recognizer(beginning)
        walker = Walker(recognizer)
        costs = TokenCosts(walker)
        if not beginning.tables.parts.has_every_byte:
            costs.tokens_needed(recognizer.start)
            walker = SpellableWalker(costs)
        contexts, counts = recognizer.machine.contexts, None
        if isinstance(contexts, RuleContexts) and contexts.network.counts_tokens:
            counts = TokenCounts(recognizer, contexts)
        budgets = BudgetMasks(walker, costs, may_search=counts is None)
        return cls(recognizer, walker, budgets, counts)
