from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.rows import LeafRows

# Kinds of exits.
BLOCKED: Final = 0
"""The leaf can't be left with this label here."""
STAY: Final = 1
"""The innermost context is replaced by another one."""
PUSH: Final = 2
"""A context is pushed; the present one may be replaced by `Exit.frame`."""
POP: Final = 3
"""The innermost context is removed, and the one below is left with `Exit.result`."""
DYNAMIC: Final = 4
"""Added to STAY or PUSH: where this leads depends on the text read; see `Contexts.exit`."""

DONE: Final = 0
"""The context of a finished text; every machine's context 0."""
NO_FRAME: Final = -1
"""The `frame` of an exit that leaves the present context as it is."""

NO_NODE: Final = -1
"""Instead of a stack node: the parent of a root."""
REQUEST_ROW: Final = -1
"""The second half of a request for the row of a leaf state, where other requests have a label."""
TOO_MANY: Final = 1073741824
"""Exits in one token whose outcome depends on the text: after the second, nothing is offered.

Such a token ends two names (or items) that must differ, and whether they do can't be read off the
configuration alone. The text can still be written with other tokens.
"""

# Instead of a configuration.
PENDING: Final = -1
"""The machine has to be supplied first."""
REFUSED: Final = -3
DEPENDS_ON_TEXT: Final = -4

class MachineArrays:
    """The tables of a machine: stack nodes, exits by context and label, gates of contexts; and what
    the last question found out.

    A configuration is a leaf state and a node. Questions raise `IndexError` if there is no such
    state or node. Not thread-safe: its owner serialises.
    """

    def __init__(self, leaves: LeafRows, /) -> None: ...
    @property
    def leaves(self) -> LeafRows: ...
    @property
    def node_context(self) -> npt.NDArray[np.int32]:
        """[nodes and room for more]: the context of a stack node."""
    @property
    def node_parent(self) -> npt.NDArray[np.int32]:
        """[nodes and room for more]: the node below, `NO_NODE` for a root."""
    @property
    def gate_start(self) -> npt.NDArray[np.int32]:
        """[contexts and room for more]: first word of the context's gate in `gate_bits`, -1 for
        none."""
    @property
    def gate_bits(self) -> npt.NDArray[np.uint64]: ...
    @property
    def nodes(self) -> int:
        """How many stack nodes there are."""
    @property
    def exits(self) -> int:
        """How many exits are known."""
    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""

    # What the last question found out.

    @property
    def lacking(self) -> bool:
        """Whether it noted requests, or a node was needed and the table is full: its answer is not
        right then."""
    @property
    def pending(self) -> list[tuple[int, int]]:
        """What it needed and could not find: (leaf, `REQUEST_ROW`) a row, (context, label) an
        exit."""
    @property
    def first_request(self) -> tuple[int, int]:
        """The first of these, (0, 0) if there is none."""
    @property
    def nodes_full(self) -> bool: ...
    @property
    def stopped(self) -> bool:
        """Whether a dynamic exit ended it; then these are the exit's context, label and node."""
    @property
    def stop_context(self) -> int: ...
    @property
    def stop_label(self) -> int: ...
    @property
    def stop_node(self) -> int: ...
    @property
    def bytes_read(self) -> int:
        """How many bytes it read."""
    passed: int
    """Which dynamic exits have been passed; see `pass_dynamic_exit`."""

    def ask(self, first: int, second: int, /) -> None:
        """Note a request, once, if there is room for it."""
    def forget(self) -> None:
        """Forget what the last question asked for."""

    # What is added.

    def add_root(self, context: int, /) -> int:
        """A new node of a context with nothing below."""
    def grow_nodes(self) -> None:
        """Make room for as many nodes again."""
    def has_exit(self, context: int, label: int, /) -> bool: ...
    def enter_exit(
        self, context: int, label: int, kind: int, following: int, leaf: int, frame: int, /
    ) -> None:
        """Enter the exit from a context with the id of a label. `leaf`: for a `POP` the label id of
        its result. See `Exit`."""
    def knows(self, context: int, /) -> bool:
        """Whether a context is noted."""
    def note_context(self, context: int, /) -> None:
        """Note a context, and make room for it."""
    def set_gate(self, context: int, bits: int, width: int, /) -> None:
        """Give a context its gate; see `Contexts.gate`."""

    # Questions.

    def node(self, context: int, parent: int, /) -> int:
        """The interned node (context, parent); `NO_NODE` if the table is full."""
    def gate_open(self, leaf: int, node: int, /) -> bool:
        """Whether a name that the context still allows can be reached from `leaf`."""
    def pass_dynamic_exit(self, passed: int, node: int, /) -> int:
        """The new value of `passed` after one more dynamic exit, at `node`: 0 before the first,
        then 2 plus the node below the level of the last exit, and `TOO_MANY` after a second exit.

        A second exit does not count if the level of the first has been closed, since the values
        that were remembered on that level have been forgotten.
        """
    def leave(self, leaf: int, node: int, /) -> tuple[int, int]:
        """The configuration after leaving a leaf; (`DEAD`, _) if the leaf can't be left."""
    def move(self, leaf: int, node: int, byte: int, /) -> tuple[int, int]:
        """The configuration after one byte, or (`DEAD`, _)."""
    def settle(self, leaf: int, node: int, /) -> tuple[int, int]:
        """Leave leaves that have been read to their end; (`DEAD`, _) if that is not possible."""
    def advance(self, leaf: int, node: int, data: bytes, /) -> tuple[int, int]:
        """The configuration after all bytes of `data`, or (`DEAD`, _). Stops at a dynamic exit."""
    def take_bytes(self, leaf: int, node: int, data: bytes, /) -> int:
        """The configuration after `data` as leaf << 32 | node, or why there is none: `REFUSED`,
        `PENDING`, or `DEPENDS_ON_TEXT` where it stopped at a dynamic exit."""
    def take_run(self, leaf: int, node: int, data: bytes, /) -> tuple[int, int, int]:
        """Read `data` byte by byte, up to the first byte that is refused, depends on the text or
        needs something that the machine lacks. Returns (number of bytes, leaf, node)."""
    def is_accepting(self, leaf: int, node: int, /) -> bool:
        """Whether the text may end here."""
    def next_bytes(self, leaf: int, node: int, /) -> bytes:
        """The bytes that may follow, in ascending order."""
