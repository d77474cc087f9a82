"""Which texts only one of two grammars has, and whether that was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from maskwright.automaton.json.levels import Levels
from maskwright.errors import LimitError
from maskwright.limits import Limits, Work
from maskwright.mask import Grammar
from maskwright.mask.compile.constructs import SchemaConstructs
from maskwright.workbench.choices import COMPARISON_SECONDS, MOST_PAIRS
from maskwright.workbench.difference.level_moves import LevelMoves
from maskwright.workbench.difference.pair_walk import PairWalk
from maskwright.workbench.difference.schema_pairs import SchemaPairs

_UNBOUNDED: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found out about two grammars, first and second.

    `only_first`, `only_second`: the shortest text found that only this one accepts; None if none
    was found. `decided`: whether none was found because there is none. `pairs`: pairs of places
    that were visited.
    """

    only_first: bytes | None
    only_second: bytes | None
    decided: bool
    pairs: int

    @property
    def equal(self) -> bool | None:
        """Whether both accept the same texts; None if that wasn't decided."""
        if self.only_first is not None or self.only_second is not None:
            return False
        return True if self.decided else None


def compare(
    first: Grammar,
    second: Grammar,
    *,
    most_pairs: int = MOST_PAIRS,
    seconds: float = COMPARISON_SECONDS,
) -> Comparison:
    """Compare the texts of two grammars, both compiled for one vocabulary of single bytes.

    Schemas are compared part by part first, and what this leaves open by a walk over the machines
    of both. It ends once each direction is decided, once all pairs of places have been visited, or
    at a bound: `most_pairs`, or `seconds` of time. In the walk, where names or items must differ
    from earlier ones and both grammars read on differently, or tokens are counted, nothing is
    decided by having visited all pairs.
    """
    known = _Differences(first, second)
    try:
        with Work(Limits(work=_UNBOUNDED, seconds=seconds)):
            known.compare_parts()
            if not known.is_over:
                known.walk(most_pairs)
    except LimitError:  # what was found stays
        pass
    return Comparison(known.found[0], known.found[1], known.is_over, known.pairs)


class _Differences:
    """What is known so far of the texts that only one of two grammars accepts."""

    def __init__(self, first: Grammar, second: Grammar) -> None:
        self._grammars = first, second
        self.found: list[bytes | None] = [None, None]
        """The shortest text found that only this grammar accepts."""
        self._without: set[int] = set()
        """The sides that have no text of their own."""
        self.pairs = 0

    @property
    def is_over(self) -> bool:
        """Whether each side has a text of its own, or is known to have none."""
        return all(self._is_decided(side) for side in (0, 1))

    def _is_decided(self, side: int) -> bool:
        return self.found[side] is not None or side in self._without

    def compare_parts(self) -> None:
        """Compare two schemas whose instances are written in one way. Raises `LimitError`."""
        one, other = (grammar.recognizer for grammar in self._grammars)
        mine, others = one.constructs, other.constructs
        if not (isinstance(mine, SchemaConstructs) and isinstance(others, SchemaConstructs)):
            return
        if mine.kind != others.kind:
            return
        pairs = SchemaPairs(mine, others)
        for side, text in pairs.texts():
            if _accepts(self._grammars[side], text) and not _accepts(
                self._grammars[1 - side], text
            ):
                self._note(side, text)
        self._without.update(side for side in (0, 1) if pairs.has_none(side))

    def walk(self, most_pairs: int) -> None:
        """Walk over the machines of both. Raises `LimitError`."""
        first, second = self._grammars
        both = first.recognizer, second.recognizer
        one_machine = both[0].machine is both[1].machine
        few_escapes = one_machine and isinstance(both[0].machine.contexts, Levels)
        sides = (
            LevelMoves(both[0], few_escapes=few_escapes),
            LevelMoves(both[1], few_escapes=few_escapes),
        )
        one_table = both[0].tables is both[1].tables
        walk = PairWalk(sides, one_machine=one_machine, one_table=one_table)
        exact = first.matcher().by_position and second.matcher().by_position
        try:
            for side, prefix in walk.differences(most_pairs):
                if side in self._without:
                    continue
                text = _only_of(self._grammars[side], self._grammars[1 - side], prefix)
                exact &= text is not None
                if text is not None:
                    self._note(side, text)
                if self.is_over:
                    return
        finally:
            self.pairs = walk.pairs
        if exact and walk.finished and not any(side.depends_on_text for side in sides):
            self._without.update(side for side in (0, 1) if self.found[side] is None)

    def _note(self, side: int, text: bytes) -> None:
        known = self.found[side]
        if known is None or len(text) < len(known):
            self.found[side] = text


def _only_of(grammar: Grammar, other: Grammar, prefix: bytes) -> bytes | None:
    """A text that begins with `prefix` and that `grammar` accepts and `other` doesn't, as their
    matchers judge it; None if none is found."""
    matcher = grammar.matcher()
    if matcher.accept_bytes(prefix) < len(prefix):
        return None
    recognizer = matcher.recognizer
    with recognizer:
        ending = recognizer.shared.completion.find(matcher.position.configuration, prefix)
    if ending is None:
        return None
    text = prefix + ending
    return text if _accepts(grammar, text) and not _accepts(other, text) else None


def _accepts(grammar: Grammar, text: bytes) -> bool:
    matcher = grammar.matcher()
    return matcher.accept_bytes(text) == len(text) and matcher.accepting
