"""Where a model computes: the CPU or a GPU, by the name that a user gives."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import torch

from maskwright.errors import InputError
from maskwright.kernels.device import INSTALLED
from maskwright.kernels.fp8.product import MULTIPLE
from maskwright.model_options import DEVICE_NAME, check_device_name

FP8_CAPABILITY: Final = (8, 9)
"""The compute capability from which on GPUs multiply codes of fp8 (Ada, Hopper)."""


def find_device(name: str) -> torch.device:
    """Return the device called `name`. "auto" is the first GPU, if there is one and Triton is
    installed, else the CPU. Raises `InputError` for other names and for a GPU that isn't there."""
    check_device_name(name)
    if name == "cpu":
        return torch.device("cpu")
    if name == "auto":
        usable = INSTALLED and torch.cuda.is_available()
        return torch.device("cuda", 0) if usable else torch.device("cpu")
    if not INSTALLED:
        raise InputError(
            f"device {name}: its kernels need Triton; install it with `pip install"
            " 'maskwright[gpu]'`.",
            param="device",
        )
    matched = DEVICE_NAME.fullmatch(name)
    number = int(matched[1] or 0) if matched is not None else 0
    there = torch.cuda.device_count()
    if number >= there:
        seen = "torch sees no GPU" if there == 0 else f"torch sees {there} GPUs, from cuda:0 on"
        raise InputError(f"device {name}: {seen}. Use cpu or auto.", param="device")
    return torch.device("cuda", number)


def launching_on(device: torch.device) -> AbstractContextManager[object]:
    """Return a context in which this thread launches Triton's kernels on `device`. They run on the
    thread's current GPU, which is the first one by default, wherever their tensors are."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def check_fp8(device: torch.device, dtype: torch.dtype, sizes: Collection[int]) -> None:
    """Check that `device` multiplies weights in fp8 by activations of `dtype`, for products with
    these numbers of inputs and outputs. The CPU does, slowly. Raises `InputError`."""
    if device.type != "cuda":
        return
    major, minor = torch.cuda.get_device_capability(device)
    wrong = ""
    if (major, minor) < FP8_CAPABILITY:
        wrong = f"needs a GPU of compute capability 8.9 or more; {device} has {major}.{minor}"
    elif dtype != torch.bfloat16:
        wrong = f"needs the type bfloat16 on a GPU, not {str(dtype).removeprefix('torch.')}"
    elif uneven := [size for size in sizes if size % MULTIPLE]:
        wrong = f"needs products of multiples of {MULTIPLE} numbers; the model has {uneven[0]}"
    if wrong:
        raise InputError(f"Weight type fp8: it {wrong}.", param="weight_dtype")


def device_memory(device: torch.device) -> int | None:
    """Return the bytes of a GPU's memory that are free or this process's own; None of the CPU."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device)
