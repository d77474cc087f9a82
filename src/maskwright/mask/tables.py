"""The arrays that compiled code reads, behind one address.

Handing some forty arrays to a compiled function costs several microseconds a call, for each is
taken out of its Python object. So a grammar keeps their addresses and lengths in a *directory*, and
hands over where that is: one int. Arrays that grow are replaced by longer ones, and the directory
is written anew; it keeps hold of whatever it lists.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false
from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import carray, njit

from maskwright.automaton.leaf import LeafArrays
from maskwright.automaton.machine import MachineArrays
from maskwright.mask.pointer import pointer
from maskwright.mask.rows import RowArrays
from maskwright.vocab import Vocabulary
from maskwright.vocab.trie import Fan

CHAIN: Final = 8
"""Leaves that can be left one after the other without reading a byte."""

_PLACES: Final = 64
"""Arrays that a directory has room for; the first entry of each is an address, then a length."""


class Scratch(NamedTuple):
    """What a walk remembers while it stands still, waiting for something that it lacks."""

    leaf: npt.NDArray[np.int32]
    """[depths * CHAIN]: the leaves of a configuration, itself first, then what can be reached by
    leaving leaves without a byte; extended when needed."""
    node: npt.NDArray[np.int32]
    passed: npt.NDArray[np.int32]
    """Dynamic exits taken on the way to each of the chain."""
    known: npt.NDArray[np.int32]
    """[depths]: how many of the chain are known; negative where that is all there are."""
    cursor: npt.NDArray[np.int32]
    """[depths]: the next trie node to look at, and where its siblings end."""
    stop: npt.NDArray[np.int32]
    added: npt.NDArray[np.int32]
    """[words]: the tokens found so far, beside the ready row; zero between walks."""
    touched: npt.NDArray[np.int32]
    """[words]: which words those are in."""
    row: npt.NDArray[np.int32]
    """[2 * words]: two rows in full, to be compared."""
    state: npt.NDArray[np.int64]
    """[0] phase, [1] depth, [2] words touched, [3] fingerprint, [4] trie nodes visited, then the
    configuration at which it is asked whether the text may end: [5] leaf, [6] node."""

    @classmethod
    def of(cls, height: int, words: int) -> Scratch:
        depths = height + 2
        return cls(
            *(np.zeros(depths * CHAIN, np.int32) for _ in range(3)),
            *(np.zeros(depths, np.int32) for _ in range(3)),
            *(np.zeros(words, np.int32) for _ in range(2)),
            np.zeros(2 * words, np.int32),
            np.zeros(8, np.int64),
        )


class Spelling(NamedTuple):
    """The vocabulary's tokens: token i is data[start[i]:start[i + 1]]."""

    data: npt.NDArray[np.uint8]
    start: npt.NDArray[np.int64]
    eos: npt.NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Spelling:
        return cls(
            np.frombuffer(b"".join(vocabulary.tokens), np.uint8),
            np.cumsum([0, *map(len, vocabulary.tokens)], dtype=np.int64),
            np.array(vocabulary.eos, np.int64),
        )


class Directory:
    """Where the arrays of one grammar are."""

    __slots__ = ("_kept", "_places", "address")

    def __init__(self) -> None:
        self._places = np.zeros(2 * _PLACES, np.int64)
        self._kept: tuple[Any, ...] = ()
        self.address: Final = int(self._places.ctypes.data)
        """What compiled code is given; valid as long as the directory lives."""

    def write(
        self,
        leaves: LeafArrays,
        machine: MachineArrays,
        rows: RowArrays,
        whole: Fan,
        leaving: Fan,
        spelling: Spelling,
        scratch: Scratch,
    ) -> None:
        """List these arrays from now on."""
        self._kept = (leaves, machine, rows, whole, leaving, spelling, scratch)
        _write(self._places, *self._kept)


@njit(cache=True)
def _write(places, leaves, machine, rows, whole, leaving, spelling, scratch):
    _note(places, 0, leaves.rows)
    _note(places, 1, leaves.base)
    _note(places, 2, leaves.override_start)
    _note(places, 3, leaves.override_stop)
    _note(places, 4, leaves.override_byte)
    _note(places, 5, leaves.override_next)
    _note(places, 6, leaves.label)
    _note(places, 7, leaves.gate_low)
    _note(places, 8, leaves.gate_high)
    _note(places, 10, machine.node_context)
    _note(places, 11, machine.node_parent)
    _note(places, 12, machine.node_slots)
    _note(places, 13, machine.exit_keys)
    _note(places, 14, machine.exit_kind)
    _note(places, 15, machine.exit_context)
    _note(places, 16, machine.exit_leaf)
    _note(places, 17, machine.gate_start)
    _note(places, 18, machine.gate_bits)
    _note(places, 19, machine.counts)
    _note(places, 20, machine.pending)
    _note(places, 24, rows.slots)
    _note(places, 25, rows.records)
    _note(places, 26, rows.page)
    _note(places, 27, rows.counts)
    for at, fan in ((30, whole), (36, leaving)):
        _note(places, at, fan.byte)
        _note(places, at + 1, fan.first)
        _note(places, at + 2, fan.count)
        _note(places, at + 3, fan.token)
        _note(places, at + 4, fan.twin)
        places[2 * (at + 5)] = fan.roots
    _note(places, 42, spelling.data)
    _note(places, 43, spelling.start)
    _note(places, 44, spelling.eos)
    _note(places, 48, scratch.leaf)
    _note(places, 49, scratch.node)
    _note(places, 50, scratch.passed)
    _note(places, 51, scratch.known)
    _note(places, 52, scratch.cursor)
    _note(places, 53, scratch.stop)
    _note(places, 54, scratch.added)
    _note(places, 55, scratch.touched)
    _note(places, 56, scratch.row)
    _note(places, 57, scratch.state)


@njit(cache=True)
def _note(places, at, array):
    places[2 * at] = array.ctypes.data
    places[2 * at + 1] = array.size


@njit(cache=True, inline="always")
def _int32(places, at):
    return carray(pointer(places[2 * at]), places[2 * at + 1], np.int32)


@njit(cache=True, inline="always")
def _int64(places, at):
    return carray(pointer(places[2 * at]), places[2 * at + 1], np.int64)


@njit(cache=True, inline="always")
def _uint8(places, at):
    return carray(pointer(places[2 * at]), places[2 * at + 1], np.uint8)


@njit(cache=True, inline="always")
def leaf_arrays(address):
    """The leaf table in a directory."""
    places = carray(pointer(address), 2 * _PLACES, np.int64)
    return LeafArrays(
        carray(pointer(places[0]), (places[1] >> 8, 256), np.int32),
        _int32(places, 1),
        _int32(places, 2),
        _int32(places, 3),
        _uint8(places, 4),
        _int32(places, 5),
        _int32(places, 6),
        _int32(places, 7),
        _int32(places, 8),
    )


@njit(cache=True, inline="always")
def machine_arrays(address):
    """The machine in a directory."""
    places = carray(pointer(address), 2 * _PLACES, np.int64)
    return MachineArrays(
        _int32(places, 10),
        _int32(places, 11),
        _int32(places, 12),
        _int64(places, 13),
        _int32(places, 14),
        _int32(places, 15),
        _int32(places, 16),
        _int32(places, 17),
        carray(pointer(places[36]), places[37], np.uint64),
        _int64(places, 19),
        carray(pointer(places[40]), (places[41] >> 1, 2), np.int64),
    )


@njit(cache=True, inline="always")
def row_arrays(address):
    """The row table in a directory."""
    places = carray(pointer(address), 2 * _PLACES, np.int64)
    return RowArrays(_int32(places, 24), _int64(places, 25), _int64(places, 26), _int64(places, 27))


@njit(cache=True, inline="always")
def fan(address, leaving):
    """The tree of all tokens in a directory, or of those that leave a string."""
    places = carray(pointer(address), 2 * _PLACES, np.int64)
    at = 36 if leaving else 30
    return Fan(
        _uint8(places, at),
        _int32(places, at + 1),
        _int32(places, at + 2),
        _int32(places, at + 3),
        _int32(places, at + 4),
        places[2 * at + 10],
    )


@njit(cache=True, inline="always")
def spelling(address):
    """The vocabulary's tokens in a directory."""
    places = carray(pointer(address), 2 * _PLACES, np.int64)
    return Spelling(_uint8(places, 42), _int64(places, 43), _int64(places, 44))


@njit(cache=True, inline="always")
def scratch_arrays(address):
    """The walk's scratch in a directory."""
    places = carray(pointer(address), 2 * _PLACES, np.int64)
    return Scratch(
        _int32(places, 48),
        _int32(places, 49),
        _int32(places, 50),
        _int32(places, 51),
        _int32(places, 52),
        _int32(places, 53),
        _int32(places, 54),
        _int32(places, 55),
        _int32(places, 56),
        _int64(places, 57),
    )
