"""Named tuples that compiled code reads through one address."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from maskwright.automaton.machine.addresses import array_table, list_arrays, listed_arrays
from maskwright.compiled import compiled


class Mixed(NamedTuple):
    small: npt.NDArray[np.uint8]
    wide: Annotated[npt.NDArray[np.int32], 3]
    bits: npt.NDArray[np.uint64]
    number: int
    large: npt.NDArray[np.int64]


class Alike(NamedTuple):
    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]


def mixed(rows: int) -> Mixed:
    return Mixed(
        small=np.array([255, 1], np.uint8),
        wide=np.arange(3 * rows, dtype=np.int32).reshape(rows, 3) - 4,
        bits=np.array([1 << 63], np.uint64),
        number=-7,
        large=np.array([1 << 40, -(1 << 40)], np.int64),
    )


@compiled
def read_back(address):
    named = listed_arrays(address, Mixed)
    return (
        named.small.copy(),
        named.wide.copy(),
        named.bits.copy(),
        named.number,
        named.large.copy(),
    )


@compiled
def write(address):
    named = listed_arrays(address, Mixed)
    named.wide[1, 2] = 99
    return len(named.wide), len(named.small)


@compiled
def second_of_alike(address):
    return listed_arrays(address, Alike).second[0]


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_what_is_listed_is_read_back(rows: int) -> None:
    table = np.zeros(array_table(Mixed), np.int64)
    named = mixed(rows)
    list_arrays(table.ctypes.data, named)
    for array, same in zip(named, read_back(table.ctypes.data), strict=True):
        assert np.array_equal(array, same)
        assert np.asarray(array).dtype == np.asarray(same).dtype


def test_arrays_are_shared_with_their_owner() -> None:
    table = np.zeros(array_table(Mixed), np.int64)
    named = mixed(4)
    list_arrays(table.ctypes.data, named)
    assert write(table.ctypes.data) == (4, 2)
    assert named.wide[1, 2] == 99
    assert named.wide.sum() == np.arange(12).sum() - 4 * 12 + 99 - 1


def test_tables_follow_each_other() -> None:
    table = np.zeros(array_table(Mixed, Alike), np.int64)
    assert len(table) == 2 * (5 + 2)
    behind = table.ctypes.data + 8 * array_table(Mixed)
    named, alike = mixed(1), Alike(np.array([5], np.int32), np.array([6], np.int32))
    list_arrays(behind, alike)
    list_arrays(table.ctypes.data, named)
    assert second_of_alike(behind) == 6
    assert read_back(table.ctypes.data)[3] == -7
