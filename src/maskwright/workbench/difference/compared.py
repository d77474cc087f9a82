"""Which texts only one of two grammars has, and whether that was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from maskwright.automaton.json.levels import Levels
from maskwright.errors import LimitError
from maskwright.limits import Limits, Work
from maskwright.mask import Grammar
from maskwright.workbench.difference.level_moves import LevelMoves
from maskwright.workbench.difference.pair_walk import PairWalk

MOST_PAIRS: Final = 1_000_000
SECONDS: Final = 20.0
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
    seconds: float = SECONDS,
) -> Comparison:
    """Compare the texts of two grammars, both compiled for one vocabulary of single bytes.

    It ends once a text is known for either direction, once all pairs of places have been visited,
    or at a bound: `most_pairs`, or `seconds` of time. Where names or items must differ from earlier
    ones and both grammars read on differently, or tokens are counted, nothing is decided by having
    visited all pairs.
    """
    both = first.recognizer, second.recognizer
    one_machine = both[0].machine is both[1].machine
    few_escapes = one_machine and isinstance(both[0].machine.contexts, Levels)
    sides = (
        LevelMoves(both[0], few_escapes=few_escapes),
        LevelMoves(both[1], few_escapes=few_escapes),
    )
    walk = PairWalk(sides, one_machine=one_machine, one_table=both[0].tables is both[1].tables)
    found: list[bytes | None] = [None, None]
    exact = first.matcher().by_position and second.matcher().by_position
    try:
        with Work(Limits(work=_UNBOUNDED, seconds=seconds)):
            for side, prefix in walk.differences(most_pairs):
                grammars = (first, second) if side == 0 else (second, first)
                text = _only_of(*grammars, prefix)
                exact &= text is not None
                known = found[side]
                if text is not None and (known is None or len(text) < len(known)):
                    found[side] = text
                if None not in found:
                    break
    except LimitError:  # what was found stays
        exact = False
    decided = exact and walk.finished and not any(side.depends_on_text for side in sides)
    return Comparison(found[0], found[1], decided, walk.pairs)


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
