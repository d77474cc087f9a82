"""Shortest values: whether a conjunction has any, and how few bytes one takes.

The promise that no mask leads into a dead end rests on this: what has no witness is pruned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from maskwright.automaton.derivative import is_live, shortest
from maskwright.automaton.whitespace import WHITESPACE, Whitespace
from maskwright.automaton.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.grammar.regular import EMPTY, Regular
from maskwright.grammar.shape import Conjunction, Shapes
from maskwright.limits import Limits


@dataclass(frozen=True, slots=True)
class Scalar:
    """The spelling of a scalar."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    values: tuple[Witness, ...]


@dataclass(frozen=True, slots=True)
class Members:
    values: tuple[tuple[str, Witness], ...]


Witness = Scalar | Items | Members


def compact(witness: Witness) -> str:
    """The witness as JSON without whitespace."""
    return rendered(witness, WHITESPACE["compact"], 0)


def rendered(witness: Witness, whitespace: Whitespace, depth: int) -> str:
    """The witness as JSON with the least whitespace that the style allows."""
    match witness:
        case Scalar(text=text):
            return text
        case Items(values=values):
            parts = [rendered(v, whitespace, depth + 1) for v in values]
            return enclosed("[", parts, "]", whitespace, depth)
        case Members(values=values):
            parts = [member(n, v, whitespace, depth + 1) for n, v in values]
            return enclosed("{", parts, "}", whitespace, depth)


def member(name: str, value: Witness, whitespace: Whitespace, depth: int) -> str:
    colon = ":" + whitespace.after_colon.decode()
    return spelled(name) + colon + rendered(value, whitespace, depth)


def enclosed(
    opening: str, parts: list[str], closing: str, whitespace: Whitespace, depth: int
) -> str:
    """A container whose brackets stand at `depth`."""
    if not parts:
        return opening + closing
    before, after = whitespace.line(depth + 1), whitespace.line(depth)
    return opening + before + whitespace.comma(depth + 1).join(parts) + after + closing


def spelled(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class Witnesses:
    """The shortest witness of every conjunction asked for.

    Only what a container must hold matters for its shortest value, so the search follows required
    names and least item counts alone. Costs are improved until they stand still (Knuth's
    generalisation of Dijkstra, by sweeps): recursion ends because a container is longer than what
    it contains.
    """

    def __init__(self, shapes: Shapes, limits: Limits) -> None:
        self._shapes = shapes
        self._limits = limits
        self._known: dict[Conjunction, Witness | None] = {}

    def of(self, conjunction: Conjunction) -> Witness | None:
        """The shortest value, None if there is no value at all."""
        if conjunction not in self._known:
            self._solve(conjunction)
        return self._known[conjunction]

    def possible(self, conjunction: Conjunction) -> bool:
        return self.of(conjunction) is not None

    def language(self, term: Regular) -> str | None:
        """The shortest string of a regular language."""
        if term is EMPTY or not is_live(term, self._limits.witness_search):
            return None
        return shortest(term, self._limits.witness_search)

    def rest_of(self, progress: Progress) -> Witness | None:
        """The shortest completion of a container that has been read up to `progress`."""
        parts = [(name, self.of(needed)) for name, needed in missing(progress)]
        if any(value is None for _, value in parts):
            return None
        if isinstance(progress, ArrayProgress):
            return Items(tuple(v for _, v in parts if v is not None))
        return Members(tuple((n, v) for n, v in parts if v is not None))

    def _solve(self, conjunction: Conjunction) -> None:
        group = self._reachable(conjunction)
        best: dict[Conjunction, Witness | None] = {c: self._scalar(c) for c in group}
        sizes = {c: _size(w) for c, w in best.items()}
        changed = True
        while changed:
            changed = False
            for member in group:
                for progress in self._containers(member):
                    found = self._container(progress, best)
                    size = _size(found)
                    if size < sizes[member]:
                        best[member], sizes[member], changed = found, size, True
        self._known.update(best)

    def _reachable(self, conjunction: Conjunction) -> list[Conjunction]:
        """The unsolved conjunctions whose witnesses the shortest containers are made of."""
        found = {conjunction: None}
        stack = [conjunction]
        while stack:
            for progress in self._containers(stack.pop()):
                for _, needed in missing(progress):
                    if needed not in self._known and needed not in found:
                        found[needed] = None
                        stack.append(needed)
        return list(found)

    def _containers(self, conjunction: Conjunction) -> Iterator[Progress]:
        shape = self._shapes.of(conjunction)
        for array in shape.arrays:
            yield ArrayProgress(array)
        for each in shape.objects:
            yield ObjectProgress(each)

    def _container(
        self, progress: Progress, best: dict[Conjunction, Witness | None]
    ) -> Witness | None:
        members: list[tuple[str, Witness]] = []
        for name, needed in missing(progress):
            value = best[needed] if needed in best else self._known[needed]
            if value is None:
                return None
            members.append((name, value))
        if isinstance(progress, ArrayProgress):
            return Items(tuple(value for _, value in members))
        return Members(tuple(members))

    def _scalar(self, conjunction: Conjunction) -> Witness | None:
        shape = self._shapes.of(conjunction)
        options: list[str] = []
        value = self.language(shape.strings)
        if value is not None:
            options.append(spelled(value))
        spelling = self.language(shape.scalars)
        if spelling is not None:
            options.append(spelling)
        return Scalar(min(options, key=_bytes)) if options else None


def missing(progress: Progress) -> list[tuple[str, Conjunction]]:
    """What a container must still hold: (name or "", conjunction)."""
    if isinstance(progress, ArrayProgress):
        shape = progress.shape
        return [("", shape.item(at)) for at in range(progress.index, shape.least)]
    return [
        (progress.shape.names[at], progress.shape.values[at]) for at in progress.required_left()
    ]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _size(witness: Witness | None) -> float:
    return float("inf") if witness is None else _bytes(compact(witness))
