"""A row whose next tokens are decoded on the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from maskwright.engine.on_device.automaton import TokenAutomaton
from maskwright.sampling import SampleRow

MOST_LAST: Final = 8
"""Tokens that may end a row's answer."""


@dataclass(frozen=True, slots=True)
class AheadRow:
    """A row that is decoded on the device: the `automaton` that it follows and its `state` there,
    the parameters of its draws, the tokens that it may still draw (`left`), those that end its
    answer (`last`, at most `MOST_LAST`), and the blocks of its sequence."""

    automaton: TokenAutomaton
    state: int
    sample: SampleRow
    left: int
    last: Sequence[int]
    table: Sequence[int]
