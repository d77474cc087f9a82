"""Reading a property name where counting decides what may come, one reader for each progress of an
object: what comes next follows from a few operations on sets of names."""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.value.level import LevelPhase, ObjectLevel, Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.shape.shape import Conjunction, ObjectShape

class PlainShape:
    """What the positions in objects of a plain shape share: the names that may come at all, and the
    terms that distinguish names. Sets of the shape's names are bits by index."""

    shape: Final[ObjectShape]
    order: Final[PropertyOrder]
    possible: Final[int]
    others: Final[bool]
    remembered: Final[RememberedNames]
    some: Final[tuple[Regular, ...]]
    indexes: Final[dict[str | None, int]]
    """The shape's names with their indexes."""
    words: Final[tuple[str, ...]]
    """The names that the terms distinguish, in order."""
    languages: Final[dict[Regular, int]]
    """The languages of other names, with their places in a label: that of all comes first."""

    def __init__(
        self,
        shape: ObjectShape,
        order: PropertyOrder,
        possible: int,
        others: bool,
        remembered: RememberedNames,
        some: tuple[Regular, ...] = (),
        read: frozenset[str] = frozenset(),
        /,
    ) -> None:
        """`possible`: the names with a value that satisfies what the shape asks of it. `others`:
        whether names that are not among the shape's may come. `some`: their languages, if only some
        of them may. `read`: other names that an object has and that are remembered; the terms
        distinguish them too."""
    def mask(self, members: Sequence[int], /) -> tuple[bool, ...]:
        """In which of the shape's languages another name is, by its label."""
    def open_names(self, progress: ObjectProgress, /) -> tuple[int, bool]:
        """The shape's names that may come now, and whether others may."""
    def other_value(self, members: tuple[int, ...], /) -> Conjunction:
        """What the value of another name must satisfy, by its label."""
    def other_names(self, read: frozenset[str], /) -> Regular:
        """The other names that may come, if any may, in an object that has these of them."""
    def with_names(self, read: frozenset[str], /) -> PlainShape:
        """The shape in an object that has these other names."""

class PlainReader:
    """Reads a name as `NameReader` does, for a single thread in a plain shape."""

    plain: Final[PlainShape]
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

    def __init__(
        self, plain: PlainShape, tag: int, progress: ObjectProgress, depth: int, /
    ) -> None:
        """`plain` has the other names that `progress` has."""
    @classmethod
    def of(
        cls,
        threads: tuple[Thread, ...],
        plain_shape: Callable[[ObjectShape], PlainShape | None],
        depth: int,
        /,
    ) -> PlainReader | None:
        """The reader of a name in a level of one thread, None if its shape isn't plain, or if only
        some of the names may come that it doesn't list."""
    @property
    def progress(self) -> ObjectProgress: ...
    def key(self, phase: LevelPhase, shape: int, /) -> ObjectLevel:
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
