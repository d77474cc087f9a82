"""The byte machine: leaf states over a stack of contexts, both ints.

Within a leaf, a byte moves the leaf state alone. Where a leaf can be left, the *context* on top of
the stack says what comes next, by the leaf's label: stay on this level in another context, push a
level, or pop and hand a result to the level below (see `automaton.machine.exits`). Contexts are
made by a `Contexts` (JSON, plain text); the machine asks for each (context, label) once and keeps
the answer, so after a while it runs on tables alone.

Nodes (context, parent) are interned: equal stacks are equal ints.
"""

from typing import Final

from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Contexts
from maskwright.automaton.machine.step import MachineArrays
from maskwright.limits import Limits, Work

class Added:
    """What has been added to a machine on behalf of one grammar, or of one text of it."""

    leaf_states: int
    contexts: int
    exits: int

    def __init__(self) -> None: ...

class Machine:
    """The machine of grammars that share their contexts, mostly of one. Not thread-safe: its owner
    serialises (see `mask.recognizer`)."""

    leaves: Final[LeafTable]
    contexts: Final[Contexts]
    work: Final[Work]
    arrays: Final[MachineArrays]

    def __init__(self, leaves: LeafTable, contexts: Contexts, limits: Limits = ...) -> None: ...
    def begin(self, added: Added, for_text: Added) -> None:
        """Begin a new question, unless it is part of the present one.

        What it adds to the machine is counted in `added` for the grammar, and in `for_text` for the
        text that is being read. Limits hold for one text: several that are read at a time, and
        earlier ones, may have added more together.
        """
    def abandon(self) -> None:
        """Forget what the last walk asked for, and has not been given."""
    def known_root(self, context: int) -> int | None:
        """The node of a context with nothing below, if there is one; found without a question."""
    def root(self, context: int) -> int:
        """The node of a context with nothing below."""
    def stack(self, node: int) -> list[int]:
        """The contexts of a node and of those below it, the innermost first."""
    def serve_requests(self) -> object:
        """Serve the pending requests of the last walk: build rows, ask for exits, grow."""
    @property
    def exits(self) -> int:
        """How many are known."""
    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
    def know_context(self, context: int) -> object:
        """Make room for a context and its gate."""
    def gate_open(self, leaf: int, context: int) -> bool:
        """Whether `context` still allows a name that can be reached from `leaf`; see
        `MachineArrays.gate_open`, its compiled twin."""
