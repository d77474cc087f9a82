"""Which files hold a checkpoint's weights, and which are never opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from maskwright.errors import InputError
from maskwright.models import weights
from maskwright.models.weights import (
    INDEX,
    read_tensors,
    read_weights,
    weight_files,
    weights_revision,
)

ONE, TWO = "model-1.safetensors", "model-2.safetensors"


def folder(base: Path, *names: str, index: Any = None) -> Path:
    """A checkpoint of these files, and an index if one is given; `../x` stands beside it."""
    directory = base / "checkpoint"
    directory.mkdir()
    for number, name in enumerate(names):
        save_file({f"tensor {number}": torch.full((2,), float(number))}, directory / name)
    if index is not None:
        (directory / INDEX).write_text(index if isinstance(index, str) else json.dumps(index))
    return directory


FILES: list[tuple[tuple[str, ...], Any, list[str]]] = [
    # the files that are there, the index, the files that hold the weights
    (("model.safetensors",), None, ["model.safetensors"]),
    (("model.safetensors", "other.safetensors"), None, ["model.safetensors"]),
    ((ONE, TWO), {"weight_map": {"b": TWO, "a": ONE, "c": TWO}}, [ONE, TWO]),
    (("model.safetensors", ONE), {"weight_map": {"a": ONE}}, [ONE]),  # the index comes first
    ((ONE,), {"metadata": {"total_size": 8}, "weight_map": {"a": ONE}}, [ONE]),
]


@pytest.mark.parametrize(("names", "index", "expected"), FILES, ids=str)
def test_files_of_weights(
    tmp_path: Path, names: tuple[str, ...], index: Any, expected: list[str]
) -> None:
    directory = folder(tmp_path, *names, index=index)
    assert weight_files(directory) == [directory / name for name in expected]


REFUSED: list[tuple[tuple[str, ...], Any, str]] = [
    ((), None, "lacks model.safetensors"),
    ((ONE,), None, "lacks model.safetensors"),
    ((ONE,), {"weight_map": {"a": ONE, "b": TWO}}, f"lacks {TWO}"),
    (("../model.safetensors",), {"weight_map": {"a": "../model.safetensors"}}, "lacks ../model"),
    (("model.bin",), {"weight_map": {"a": "model.bin"}}, "lacks model.bin"),
    ((ONE,), {}, "is not an index of shards"),
    ((ONE,), [], "is not an index of shards"),
    ((ONE,), "{", "is not an index of shards"),
    ((ONE,), {"weight_map": [ONE]}, "is not an index of shards"),
    ((ONE,), {"weight_map": None}, "is not an index of shards"),
]


@pytest.mark.parametrize(("names", "index", "message"), REFUSED, ids=str)
def test_refusals(tmp_path: Path, names: tuple[str, ...], index: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        weight_files(folder(tmp_path, *names, index=index))
    assert raised.value.param == "model"


@pytest.mark.parametrize(
    "pickles", [["pytorch_model.bin"], ["a.pt", "b.ckpt"], ["w.pth"], ["w.pkl"], []]
)
def test_pickles_are_named_and_left_alone(tmp_path: Path, pickles: list[str]) -> None:
    for name in (*pickles, "notes.txt"):
        (tmp_path / name).write_bytes(b"\x80")
    with pytest.raises(InputError) as raised:
        weight_files(tmp_path)
    message = f"(what is there, {', '.join(pickles)}, is never opened)"
    assert (message in raised.value.message) is bool(pickles)
    assert "notes.txt" not in raised.value.message


def test_shards_are_read_into_one(tmp_path: Path) -> None:
    directory = folder(tmp_path, ONE, TWO, index={"weight_map": {"x": ONE, "y": TWO}})
    weights = read_weights(directory)
    assert {name: tensor.tolist() for name, tensor in weights.items()} == {
        "tensor 0": [0.0, 0.0],
        "tensor 1": [1.0, 1.0],
    }


@pytest.mark.parametrize("cut", [0, 3, -1])
def test_a_file_that_is_not_whole(tmp_path: Path, cut: int) -> None:
    file = folder(tmp_path, ONE) / ONE
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(InputError, match="not a complete safetensors file") as raised:
        read_tensors(file)
    assert raised.value.param == "model"


def test_a_revision_changes_with_the_weights_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether files are read as a whole or by samples."""
    directory = tmp_path / "checkpoint"
    directory.mkdir()

    def revision(first: float, last: float) -> str:
        tensor = torch.zeros(400_000)
        tensor[0], tensor[-1] = first, last
        save_file({"tensor": tensor}, directory / "model.safetensors")
        return weights_revision(directory)

    for bound in (weights.WHOLE_BYTES, 1_000_000):
        monkeypatch.setattr(weights, "WHOLE_BYTES", bound)
        monkeypatch.setattr(weights, "SAMPLES", 4)
        seen = [revision(0, 0), revision(1, 0), revision(0, 1), revision(0, 0)]
        (directory / "config.json").write_text("{}")
        assert weights_revision(directory) == seen[0] == seen[3]
        assert len(set(seen)) == 3
