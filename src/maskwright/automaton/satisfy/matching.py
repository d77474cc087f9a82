"""A different value for each of several items: bipartite matching."""

from __future__ import annotations

from collections.abc import Sequence, Set

from maskwright.limits import CHEAP, spend


def matching(options: Sequence[Set[str]], values: Sequence[str]) -> list[str] | None:
    """One of `options` for each item, all different; None if there is no such choice.

    `values` lists all values, the preferred ones first. Kuhn's algorithm: each value in turn takes
    an item if those that stand in its way can move to other items. A value that has an item keeps
    one from then on, and the sets of values that can be matched are a matroid; so the values that
    are chosen are the first possible ones, and the cheapest if `values` is sorted by cost.
    O(items² · values), and the recursion is as deep as there are items.
    """
    if len(values) < len(options):
        return None
    holder: list[str | None] = [None] * len(options)
    missing = len(options)

    def take(value: str, tried: set[int]) -> bool:
        spend(CHEAP * len(options))
        for item, allowed in enumerate(options):
            if value in allowed and item not in tried:
                tried.add(item)
                present = holder[item]
                if present is None or take(present, tried):
                    holder[item] = value
                    return True
        return False

    for value in values:
        if missing == 0:
            break
        missing -= take(value, set())
    return None if missing else [value for value in holder if value is not None]
