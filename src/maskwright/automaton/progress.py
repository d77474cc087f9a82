"""How far a container has been read: the state of one thread inside an array or object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from maskwright.grammar.shape import ArrayShape, Conjunction, ObjectShape

PropertyOrder = Literal["schema", "any"]

Possible = Callable[[Conjunction], bool]
"""Whether some value satisfies a conjunction."""


class ArrayProgress(NamedTuple):
    """`index` items have been read; counting stops where more makes no difference."""

    shape: ArrayShape
    index: int = 0

    def may_close(self) -> bool:
        return self.index >= self.shape.least

    def next_item(self, possible: Possible) -> Conjunction | None:
        """What the next item must satisfy; None if there can't be one."""
        if self.shape.most is not None and self.index >= self.shape.most:
            return None
        conjunction = self.shape.item(self.index)
        return conjunction if possible(conjunction) else None

    def after_item(self) -> ArrayProgress:
        enough = max(len(self.shape.prefix), self.shape.least)
        if self.shape.most is None and self.index >= enough:
            return self
        return ArrayProgress(self.shape, self.index + 1)


class ObjectProgress(NamedTuple):
    """The names read so far.

    In order "schema" the declared names before `position` are behind us and `seen` holds the late
    ones; in order "any" `seen` holds all.
    """

    shape: ObjectShape
    position: int = 0
    seen: int = 0

    def required_left(self) -> list[int]:
        """The required names still to come, in order."""
        return [
            at
            for at in sorted(self.shape.required)
            if at >= self.position and not self.seen >> at & 1
        ]

    def may_close(self) -> bool:
        return not self.required_left()

    def next_names(self, order: PropertyOrder, possible: Possible) -> list[int]:
        """The names that may come next."""
        shape = self.shape
        if order == "any":
            found = [at for at in range(len(shape.names)) if not self.seen >> at & 1]
        else:
            stop = shape.declared
            for at in self.required_left():
                if at < stop:
                    stop = at + 1
                    break
            else:
                stop = len(shape.names)
            found = [at for at in range(self.position, stop) if not self.seen >> at & 1]
        return [at for at in found if possible(shape.values[at])]

    def next_other(self, order: PropertyOrder, possible: Possible) -> bool:
        """Whether a name that is not in `names` may come next."""
        if order == "schema" and any(at < self.shape.declared for at in self.required_left()):
            return False
        return possible(self.shape.additional)

    def after_name(self, at: int, order: PropertyOrder) -> ObjectProgress:
        if order == "schema" and at < self.shape.declared:
            return self._replace(position=at + 1)
        position = self.shape.declared if order == "schema" else 0
        return self._replace(position=position, seen=self.seen | 1 << at)

    def after_other(self, order: PropertyOrder) -> ObjectProgress:
        return self._replace(position=self.shape.declared) if order == "schema" else self


Progress = ArrayProgress | ObjectProgress
