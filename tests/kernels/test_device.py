"""Without Triton, which is optional, the twins do the work. Columns go to a device together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from maskwright.kernels import device as module
from maskwright.kernels.device import (
    UPLOAD_MULTIPLE,
    Download,
    as_logits,
    generation_of,
    laid_out,
    new_logits,
    readable_tokens,
    upload,
)

ROOT = Path(__file__).resolve().parents[2]


def test_masks_are_applied_without_triton() -> None:
    program = """
import sys
sys.modules["triton"] = None
import torch
from maskwright.kernels.apply_mask import apply_mask
from maskwright.kernels.device import AVAILABLE, INTERPRETED
logits = torch.zeros(1, 4)
apply_mask(logits, torch.tensor([[5]], dtype=torch.int32))
print(AVAILABLE, INTERPRETED, logits.tolist())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "False False [[0.0, -inf, 0.0, -inf]]\n", run.stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize(
    ("before", "interpret", "imported"),
    [("", "0", False), ("", "1", True), ("import triton", "0", True)],
)
def test_triton_is_imported_only_for_kernels(before: str, interpret: str, imported: bool) -> None:
    pytest.importorskip("triton", reason="needs triton, of the extra gpu")
    program = f"""
{before}
from maskwright.kernels.device import AVAILABLE, INSTALLED
import sys
print(INSTALLED, AVAILABLE, "triton" in sys.modules)
"""
    environment = {**os.environ, "TRITON_INTERPRET": interpret}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.stdout == f"True {imported} {imported}\n", run.stderr


def test_the_generation_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is the major number of its own compute capability; other devices have the eldest one."""
    capabilities = {0: (9, 0), 1: (12, 1)}
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda gpu: capabilities[gpu.index])
    generation_of.cache_clear()
    found = [generation_of(torch.device("cuda", number)) for number in (0, 1, 0)]
    generation_of.cache_clear()
    assert found == [9, 12, 9]
    assert generation_of(torch.device("cpu")) == generation_of(torch.device("meta")) == 8


COMPILE = """
import sys, triton
from pathlib import Path
from benchmarks.gpu.static import SUBJECTS, launches
from maskwright.kernels.device import keep_compiled
keep_compiled(Path(sys.argv[1]))
launches(SUBJECTS["silu"])[0].compile("90")
"""


@pytest.mark.parametrize(
    ("asked", "variable", "place", "starts"),
    [
        ("asked/kernels", None, "asked/kernels", 2),
        ("file/kernels", None, "home", 1),
        ("asked/kernels", "TRITON_CACHE_DIR", "named", 1),
        ("asked/kernels", "TRITON_HOME", "named", 1),
    ],
)
def test_compiled_kernels_are_kept_where_the_next_start_finds_them(
    tmp_path: Path, asked: str, variable: str | None, place: str, starts: int
) -> None:
    """In the folder that is asked for, unless the environment names one, or it can't be made. A
    start takes seconds, so one case alone has a second."""
    pytest.importorskip("triton", reason="needs triton, of the extra gpu")
    (tmp_path / "file").touch()
    environment = {**os.environ, "HOME": str(tmp_path / "home")}
    for name in ("TRITON_CACHE_DIR", "TRITON_HOME", "TRITON_INTERPRET"):
        environment.pop(name, None)
    if variable is not None:
        environment[variable] = str(tmp_path / "named")
    kept: list[dict[Path, int]] = []
    for _ in range(starts):
        run = subprocess.run(
            [sys.executable, "-c", COMPILE, str(tmp_path / asked)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        assert run.returncode == 0, run.stderr
        found = [path for path in tmp_path.rglob("*") if path.suffix == ".cubin"]
        kept.append({path: path.stat().st_mtime_ns for path in found})
    assert kept[0] == kept[-1], "the second start compiles nothing"
    assert [path.is_relative_to(tmp_path / place) for path in kept[0]] == [True]


def test_columns_arrive_as_they_were(device: torch.device) -> None:
    """Of any type and shape, empty or strided; each begins where kernels may read in wide steps."""
    columns = [
        torch.tensor([1, -2, 3], dtype=torch.int32),
        torch.tensor([0.1, 1e300], dtype=torch.float64),
        torch.tensor([], dtype=torch.float32),
        torch.arange(12, dtype=torch.int64).view(3, 4).t(),
        torch.tensor([True, False, True]),
        torch.tensor([[7]], dtype=torch.int16),
    ]
    moved = upload(columns, device)
    for column, found in zip(columns, moved, strict=True):
        assert (found.dtype, found.device.type) == (column.dtype, device.type)
        assert found.is_contiguous()
        assert found.storage_offset() * found.element_size() % UPLOAD_MULTIPLE == 0
        assert found.cpu().equal(column)
    moved[0][0] = 9
    assert columns[0][0] == 1, "the memory is their own"


def test_nothing_is_no_copy_of_anything(device: torch.device) -> None:
    assert upload([], device) == []


def test_numbers_come_as_they_were_when_they_were_asked_for(device: torch.device) -> None:
    numbers = torch.arange(6, device=device).view(2, 3)
    download = Download(numbers)
    numbers += 7
    assert download.read() == [[0, 1, 2], [3, 4, 5]]
    assert Download(numbers).read() == [[7, 8, 9], [10, 11, 12]]


def test_one_copy_that_the_host_does_not_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[tuple[torch.Size, bool]] = []

    def copy(self: torch.Tensor, device: torch.device, *, non_blocking: bool) -> torch.Tensor:
        copies.append((self.shape, non_blocking))
        return torch.empty_like(self, device=device)

    monkeypatch.setattr(torch.Tensor, "to", copy)
    columns = [torch.zeros(3, dtype=torch.int32), torch.zeros(5, dtype=torch.int64)]
    assert {each.device.type for each in upload(columns, torch.device("meta"))} == {"meta"}
    assert copies == [((64,), True)]


def test_how_far_rows_of_logits_may_be_read(device: torch.device) -> None:
    """To a multiple of 16, if that is in their memory and all rows begin at one."""
    padded = new_logits(3, 50, device)
    assert (padded.shape, padded.stride()) == ((3, 50), (64, 1))
    assert readable_tokens(padded) == 64
    assert readable_tokens(padded[1:]) == 64
    assert readable_tokens(new_logits(3, 48, device)) == 48
    dense = torch.zeros(3, 50, device=device)
    assert readable_tokens(dense) == 50, "rows begin anywhere"
    others = torch.zeros(3, 64, device=device)
    assert readable_tokens(others[:, :50]) == 64
    assert readable_tokens(others[:, 14:]) == 50, "the last row ends with the memory"


def test_logits_are_laid_out_where_kernels_run(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = torch.randn(2, 50).bfloat16()
    monkeypatch.setattr(module, "runs_kernels", lambda tensor: False)
    assert as_logits(numbers).stride() == (50, 1)
    monkeypatch.setattr(module, "runs_kernels", lambda tensor: True)
    found = as_logits(numbers)
    assert (found.dtype, found.stride()) == (torch.float32, (64, 1))
    assert found.equal(numbers.float())
    assert as_logits(found) is found
    whole = torch.zeros(2, 64)
    assert as_logits(whole) is whole


def test_rows_are_copied_unless_all_of_them_begin_where_they_are_read_in_wide_steps(
    device: torch.device,
) -> None:
    """Those of a vocabulary of 48 need no padding, but may begin anywhere as well."""
    wide = torch.arange(4 * 64.0, device=device).bfloat16().reshape(4, 64)
    for there in (wide, wide[:, :48], wide[1:, 16:], new_logits(3, 50, device, torch.bfloat16)):
        assert laid_out(there, torch.bfloat16) is there
    odd = torch.arange(4 * 50.0, device=device).bfloat16().reshape(4, 50)
    for other in (odd, odd[:, :48], wide[:, 1:49], wide[:, 14:], odd[:1], odd[:1, :48]):
        found = laid_out(other, torch.bfloat16)
        assert found.equal(other)
        assert found.data_ptr() != other.data_ptr()
        assert (found.stride(0) % 16, readable_tokens(found) % 16) == (0, 0)
    single = laid_out(wide, torch.float32)
    assert (single.dtype, single.equal(wide.float())) == (torch.float32, True)
