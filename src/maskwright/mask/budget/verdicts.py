"""A verdict on each token of a mask, by the text that it would lead to.

Tokens that lead to one configuration mostly share a verdict, so the first speaks for its group.
Where items must differ, the text makes a difference too: the tokens of small groups are checked
one by one, and in others the first speaks for all if it passes with a margin. Tokens after which
the usual completion would repeat a name of the text are always checked one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.budget.token_costs import TokenCosts
from maskwright.mask.walker import TokenGroups

MOST_CHECKED: Final = 16
"""Most tokens of one group checked individually when the verdict depends on the text."""
MARGIN: Final = 8
"""Tokens to spare with which one token of a large group passes for all of it. That no other one
needs so many more is not proven: it has other values or names to differ from, for which a character
more mostly suffices."""

Verdict = Callable[[Configuration, bytes, int], bool]
"""Asked for a configuration, the text up to there, and a margin in tokens."""


def verdicts(
    costs: TokenCosts, here: Configuration, prefix: bytes, groups: TokenGroups, verdict: Verdict
) -> npt.NDArray[np.bool_]:
    """The verdict on each of `groups.tokens` (bool [n]) at `here`, after the text `prefix`.

    A large group whose first token fails with the margin has its first `MOST_CHECKED` tokens
    checked, and the others fail.
    """
    spellings = costs.walker.tables.vocabulary.spellings
    advance = costs.walker.recognizer.advance
    tokens, targets, group = groups
    passed = np.zeros(len(tokens), np.bool_)
    # Numbers of 16 bits are sorted in one pass, and there are seldom more groups.
    group = group.astype(np.uint16) if len(targets) < 1 << 16 else group
    order = np.argsort(group, kind="stable")
    stops = np.searchsorted(group[order], np.arange(len(targets)), side="right").tolist()
    for start, stop, target in zip([0, *stops], stops, targets, strict=False):
        members = order[start:stop]
        apart = costs.repeating(here, prefix, target, tokens[members])
        for at in members[apart].tolist():
            data = spellings[int(tokens[at])]
            reached = advance(here, data, prefix)
            passed[at] = reached is not None and verdict(reached, prefix + data, 0)
        members = np.delete(members, apart)
        if not len(members):
            continue
        if costs.places.shares_costs(here, target):
            passed[members] = verdict(target, prefix + spellings[int(tokens[members[0]])], 0)
            continue
        checked = 0
        for at in members.tolist():
            data = spellings[int(tokens[at])]
            text = prefix + data
            reached = advance(here, data, prefix)
            passed[at] = reached is not None and verdict(reached, text, 0)
            if reached is None or reached != target:
                continue  # ends a value that must differ: the walk passed that without the text
            if not costs.places.depends_on_text(reached):
                passed[members] = passed[at]
                break
            checked += 1
            if len(members) > MOST_CHECKED:
                if checked == 1 and verdict(reached, text, MARGIN):
                    passed[members] = True
                    break
                if checked == MOST_CHECKED:
                    break
    return passed
