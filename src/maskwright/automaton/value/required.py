"""What an array or object still lacks, as far as that shows without a search."""

from __future__ import annotations

from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.grammar.shape.shape import Conjunction


def needed(progress: Progress) -> list[Conjunction] | None:
    """What the values must satisfy that are all that a container lacks; None if that isn't so
    simple, or if it can't be completed at all."""
    shape = progress.shape
    if isinstance(progress, ArrayProgress):
        if progress.tells_items or progress.counts:
            return None
        stop = min(progress.shape.least, len(progress.shape.prefix) + 1)
        return [progress.shape.item(at) for at in range(progress.index, stop)]
    left = progress.required_left()
    if shape.most is not None and progress.count + len(left) > shape.most:
        return None
    if not is_simple(progress):
        return None
    return [progress.shape.values[at] for at in left]


def is_simple(progress: ObjectProgress) -> bool:
    """Whether the required names are all that is missing."""
    left = progress.required_left()
    coming = sum(1 << at for at in left)
    enough = progress.count + len(left) >= progress.shape.least
    return enough and not progress.is_wanting(coming)


def gains(here: ObjectProgress, after: ObjectProgress) -> bool:
    """Whether a member that isn't required brings the end nearer, or may tell rivals apart."""
    return bool(here.rivals) or after.met != here.met or here.count < here.shape.least


def up_to_required(progress: ObjectProgress) -> list[int]:
    """The names from `position` to the first required one.

    What is possible does not depend on the order of names, so that a search takes them in one,
    and need not remember which of those behind it it has taken.
    """
    if progress.is_full:
        return []
    found: list[int] = []
    for at in range(progress.position, len(progress.shape.names)):
        if not progress.seen >> at & 1:
            found.append(at)
            if at in progress.shape.required:
                break
    return found
