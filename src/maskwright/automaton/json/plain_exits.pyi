"""The exits of values on levels of their own, of arrays whose items all satisfy the same, and after
the names of plain objects: with each those that follow, made together since a first mask needs them
all; and the numbers of the levels to which they lead."""

from collections.abc import Hashable
from typing import Any, Final

from maskwright.automaton.json.names import NameReader, PlainShapes
from maskwright.automaton.json.plain_reader import PlainReader
from maskwright.automaton.machine.contexts import Contexts
from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.satisfy.solver import Solver
from maskwright.grammar.shape.shape import Conjunction, ObjectShape

class LevelNumbers:
    """Numbers levels, the contexts of a machine, in the order in which they are met."""

    known: Final[list[Any]]
    """By context: the level, or the key from which it is made when it is asked for."""
    owners: Final[list[Contexts]]
    shapes: Final[list[ObjectShape]]
    """By number; equal shapes have one."""
    gates: Final[dict[int, tuple[int, int] | None]]
    """The gates of contexts that are known without a question; see `Contexts.gate`."""
    colon: int | None
    """The leaf state between a name and its value, once it is known."""
    spaced: int | None
    """The leaf state after an opening bracket, once it is known."""
    commas: Final[dict[tuple[bool, bool, str, int], int]]
    """The leaf states after a member or item: by whether another may come, whether the bracket may
    close, the bracket, and the depth."""

    def __init__(self) -> None: ...
    def context(self, key: Hashable, owner: Contexts, /) -> int:
        """The context of a level; `owner` becomes its owner if it is new."""
    def find(self, key: Hashable, /) -> int | None:
        """The context of a level, if it has been met."""
    def enter_alone(self, context: int, /) -> None:
        """Note that a context is that of a value on a level of its own, read by one thread whose
        tag is 0. What has been read of it satisfies it, and it has no gate."""
    def leaves_names_to_text(self, context: int, /) -> bool:
        """See `Contexts`."""
    def shape(self, shape: ObjectShape, /) -> int:
        """The number of a shape."""

class PlainExits:
    """What is known of reading names in the levels of one owner."""

    readers: Final[dict[int, tuple[NameReader | PlainReader, int]]]
    """By context: what reads its name, and the leaf state in which that begins."""
    goes_on: Final[dict[int, bool]]
    """By context after a member or item: whether another may come."""

    def __init__(
        self, levels: Any, owner: Any, solver: Solver, plain_shape: PlainShapes, /
    ) -> None:
        """`levels` and `owner`: the `Levels` and the `JsonContexts`, in modules that import this
        one."""
    def representative(self, value: Conjunction, /) -> Conjunction:
        """The first conjunction met that is written equally; of conjunctions that allow scalars
        only, the first that allows these scalars; of a reference, that of its target. Equal
        conjunctions share their contexts."""
    def root_leaf(self, context: int, read: Exit, /) -> int | None:
        """The leaf state before the value of a whole text, which one thread reads; None where
        `exit` has nothing for how it begins. `read`: the exit after it."""
    def value_alone(self, value: Conjunction, depth: int, /) -> int:
        """The context of a value on a level of its own, above a level in one thread."""
    def enter(self, context: int, reader: NameReader | PlainReader, start: int, /) -> None:
        """Enter one of the `readers`."""
    def exit(self, context: int, label: Hashable, text: str | None, /) -> Exit | None:
        """The exit after a name, as `Contexts.exit` has it, where a `PlainReader` reads it and it
        is listed, or any other name would lead to the same; before and after a value alone, and
        in an array whose items all satisfy the same, if a value is a scalar, an array of one shape
        or an object of one shape; None elsewhere."""
