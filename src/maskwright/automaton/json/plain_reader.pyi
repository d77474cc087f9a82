"""Reading a property name where counting decides what may come, one reader for each progress of an
object: what comes next follows from a few operations on sets of names."""

from collections.abc import Callable, Hashable
from typing import Any, Final

from maskwright.automaton.value.level import LevelPhase, Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.shape.shape import ObjectShape

class PlainFacts:
    """What the readers of one plain shape look up."""

    def __init__(
        self,
        shape: ObjectShape,
        order: PropertyOrder,
        possible: int,
        others: bool,
        words: tuple[str, ...],
        leaves_to_text: bool,
        /,
    ) -> None:
        """`words`: the names that the terms distinguish, in order. `leaves_to_text`: whether other
        names are left to the text (see `remembered_names`). The rest is `PlainShape`'s."""

class PlainReader:
    """Reads a name as `NameReader` does, for a single thread in a plain shape."""

    plain: Final[Any]
    """The `plain_names.PlainShape`, in a module that imports this one."""
    shape: Final[ObjectShape]
    tag: Final[int]
    depth: Final[int]
    """That of the level."""
    names: Final[int]
    """The shape's names that may come now, as bits."""
    others: Final[bool]
    """Whether other names may come now."""
    term: Final[Regular]
    words: Final[tuple[str, ...]]
    bits: Final[int]
    """The words that may come now."""
    may_close: Final[bool]
    """Whether the object may end instead."""

    def __init__(self, plain: Any, tag: int, progress: ObjectProgress, depth: int, /) -> None:
        """`plain` has the other names that `progress` has."""
    @classmethod
    def of(
        cls,
        threads: tuple[Thread, ...],
        plain_shape: Callable[[ObjectShape], Any],
        depth: int,
        /,
    ) -> PlainReader | None:
        """The reader of a name in a level of one thread, None if its shape isn't plain, or if only
        some of the names may come that it doesn't list."""
    @property
    def progress(self) -> ObjectProgress: ...
    def key(self, phase: LevelPhase, shape: int, /) -> tuple[Hashable, ...]:
        """What stands for a level with this progress; see `Levels`. `shape`: the shape's number."""
    def index(self, label: Hashable, /) -> int | None:
        """The index of the shape's name that a label stands for, None for another name."""
    def reader_after(self, at: int, /) -> PlainReader:
        """The reader of the next name, after the member with one of the shape's names."""
    def reads_any_other(self, label: Hashable, /) -> bool:
        """Whether a label stands for an allowed name, known only as one that the shape doesn't
        list, in an object that remembers no such names."""
    def reader_after_other(self) -> PlainReader:
        """The reader of the next name, after the member with such a name. It has its progress, and
        finds out what may come when compiled code asks it to."""
    def is_other(self, label: Hashable, /) -> bool:
        """See `NameReader.is_other`."""
    def threads(self, label: Hashable, text: str | None, /) -> tuple[Thread, ...]:
        """See `NameReader.threads`."""
