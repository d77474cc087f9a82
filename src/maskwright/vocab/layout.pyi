import numpy as np
import numpy.typing as npt

def lay_out(
    data: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int32],
    size: int,
    /,
) -> tuple[
    npt.NDArray[np.uint8],
    npt.NDArray[np.int16],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
]:
    """The fields of the `Trie` of tokens that are sorted by their bytes: `ids`, each of which is
    `data[start:stop]`. `size`: V."""

def lay_out_siblings(
    byte: npt.NDArray[np.uint8],
    skip: npt.NDArray[np.int32],
    token: npt.NDArray[np.int32],
    /,
) -> tuple[
    npt.NDArray[np.uint8],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
]:
    """The arrays `byte`, `first`, `children` and `token` of a `SiblingTrie`, from those of a
    `Trie`."""

def most_for_a_suffix(
    byte: npt.NDArray[np.uint8],
    first: npt.NDArray[np.int32],
    children: npt.NDArray[np.int32],
    token: npt.NDArray[np.int32],
    roots: int,
    data: bytes,
    /,
) -> int:
    """The largest number of tokens that a suffix of `data` needs, spelled with the fewest tokens of
    a `SiblingTrie`. Every byte has to be a token."""
