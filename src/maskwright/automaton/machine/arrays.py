"""The machine as compiled code reads and extends it: its arrays, and its registers by name."""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt

NO_NODE: Final = -1
"""Instead of a stack node: the parent of a root, and an empty slot of the hash table."""

# The registers, elements of `MachineArrays.registers`.
NODES: Final = 0
"""How many stack nodes there are."""
REQUESTS: Final = 1
"""How many requests are pending."""
NODES_FULL: Final = 2
"""1 if a node was needed and the table is full."""
STOPS: Final = 3
"""1 if a dynamic exit ends the present call, so that the caller can take it knowing the text."""
STOP_CONTEXT: Final = 4
"""The dynamic exit that ended a call: its context, label and node."""
STOP_LABEL: Final = 5
STOP_NODE: Final = 6
STOPPED: Final = 7
"""1 if a dynamic exit ended the call."""
PASSED: Final = 8
"""Which dynamic exits have been passed; see `automaton.machine.step.pass_dynamic_exit`."""
BYTES_READ: Final = 9
"""How many bytes the last `advance` has read."""
REGISTERS: Final = 10

REQUEST_ROW: Final = -1
"""The second half of a request for the row of a leaf state, where other requests have a label."""


class MachineArrays(NamedTuple):
    """See `automaton.machine.step` for what reads and extends them."""

    node_context: npt.NDArray[np.int32]
    node_parent: npt.NDArray[np.int32]
    node_slots: npt.NDArray[np.int32]
    """Open-addressing hash of (context, parent) → node, a power of two, NO_NODE is empty."""
    exit_keys: npt.NDArray[np.int64]
    """Open-addressing hash of context << 32 | label, a power of two, -1 is empty."""
    exit_kind: npt.NDArray[np.int32]
    exit_context: npt.NDArray[np.int32]
    exit_leaf: npt.NDArray[np.int32]
    """Next leaf state; for a POP the label id of the result."""
    exit_frame: npt.NDArray[np.int32]
    """For a PUSH the context that takes the present one's place below, or NO_FRAME."""
    gate_start: npt.NDArray[np.int32]
    """[contexts]: first word of the context's gate in `gate_bits`, -1 for none."""
    gate_bits: npt.NDArray[np.uint64]
    registers: npt.NDArray[np.int64]
    """[REGISTERS]: see `NODES` and the others."""
    pending: Annotated[npt.NDArray[np.int64], 2]
    """[n, 2]: what a walk needs and could not find: (leaf, REQUEST_ROW) a row, (context, label) an
    exit."""
