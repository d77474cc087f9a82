"""Where a model computes, and that a step leaves nothing on the host."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import pytest
import torch

from maskwright.errors import InputError
from maskwright.kernels import (
    few_rows,
    low_rank,
    norm_rope,
    paged_attention,
    sample,
    silu_mul,
    store_kv,
)
from maskwright.kernels.noting import Noted
from maskwright.kernels.steps import next_rows
from maskwright.models import DEMO_PATH, device, load
from maskwright.models.adapter import Adapter, LowRank
from maskwright.models.config import parse_config, read_config
from maskwright.models.decoder import lay_out
from maskwright.models.dense import DenseDecoder
from maskwright.models.device import check_fp8, device_memory, find_device, launching_on
from maskwright.models.runs import Run
from maskwright.models.weights import read_weights

META = torch.device("meta")
CPU = torch.device("cpu")


def test_names_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "INSTALLED", True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("cpu") == find_device("auto") == CPU
    for name in ("cuda", "cuda:1"):
        with pytest.raises(InputError, match="torch sees no GPU"):
            find_device(name)
    for name in ("gpu", "cuda:", "cuda:x", "CUDA", "mps", ""):
        with pytest.raises(InputError, match="one of auto, cpu, cuda or cuda:N"):
            find_device(name)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_device("auto") == find_device("cuda") == torch.device("cuda", 0)
    assert find_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(InputError, match=r"torch sees 2 GPUs, from cuda:0 on"):
        find_device("cuda:2")
    monkeypatch.setattr(device, "INSTALLED", False)
    assert find_device("auto") == CPU
    with pytest.raises(InputError, match="need Triton"):
        find_device("cuda")


def test_kernels_are_launched_on_the_gpu_that_a_user_names() -> None:
    """Triton launches on the thread's current GPU, wherever the tensors are."""
    second = torch.device("cuda", 1)
    with patch.object(torch.cuda, "device") as chosen:
        with launching_on(CPU):
            chosen.assert_not_called()
        with launching_on(second):
            chosen.assert_called_once_with(second)
            chosen.return_value.__enter__.assert_called_once_with()
        chosen.return_value.__exit__.assert_called_once()


def test_memory_of_the_cpu_is_unknown_here() -> None:
    assert device_memory(CPU) is None


class Recorder:
    """Stands for a kernel: its launches do nothing but keep their arguments."""

    def __init__(self) -> None:
        self.launches: list[tuple[Any, ...]] = []

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        assert all(size > 0 for size in grid)
        return lambda *arguments, **options: self.launches.append(arguments)


@contextmanager
def recorded() -> Generator[dict[str, Recorder]]:
    """Put recorders in the place of all kernels of a forward, and of those that sample and go on
    to the next."""
    found: dict[str, Recorder] = {}
    with ExitStack() as stack:
        # What takes the place of kernels isn't noted, so each layer is computed by itself.
        stack.enter_context(patch.object(Noted, "repeat", return_value=False))
        sampling = sample, next_rows
        modules = few_rows, low_rank, norm_rope, paged_attention, silu_mul, store_kv
        for module in (*modules, *sampling):
            if module is not low_rank:  # which the decoder chooses
                stack.enter_context(patch.object(module, "runs_kernels", return_value=True))
            for name in [name for name in vars(module) if name.endswith("_kernel")]:
                found[name] = Recorder()
                stack.enter_context(patch.object(module, name, found[name]))
        yield found


def test_a_step_leaves_nothing_on_the_host() -> None:
    """Tensors of the device `meta` have no data. An operation that mixes them with a tensor of the
    host is an error, as it is on a GPU."""
    config = parse_config(read_config(DEMO_PATH))
    decoder = DenseDecoder(config, read_weights(DEMO_PATH), torch.bfloat16, device=META)
    pool = decoder.new_pool(9, 16)
    shapes = decoder.adapter_shapes
    name = "model.layers.1.self_attn.v_proj"
    outputs, inputs = shapes[name]
    matrices = LowRank(torch.zeros(3, inputs), torch.zeros(outputs, 3))
    with (
        patch("maskwright.models.decoder.kernels_run_on", return_value=True),
        patch("maskwright.models.adapter.kernels_run_on", return_value=True),
        recorded() as kernels,
    ):
        adapter = Adapter({name: matrices}).on(META, shapes)
        assert adapter.nbytes == 8 * (inputs + outputs) * 4 + len(shapes) * 3 * 8
        runs = [
            Run([1, 2, 3], 14, [1, 2], 1, adapter),
            Run([5] * 20, 0, [3, 4], 1),
            Run([7], 3, [5], 1),
        ]
        logits = decoder.forward(lay_out(runs, 16, decoder.plan), pool)
    assert (logits.shape, logits.device) == ((4, config.vocab_size), META)
    counts = {name: len(kernel.launches) for name, kernel in kernels.items() if kernel.launches}
    # Of each layer: decodes and pieces of prompts, the norms before attention and inner layer; and
    # the last norm. Of the one product that an adapter changes: its update. The logits of few rows.
    assert counts == {
        "few_rows_kernel": 1,
        "shrink_kernel": 1,
        "expand_kernel": 1,
        "attend_kernel": 2 * config.layers,
        "add_norm_kernel": 2 * config.layers + 1,
        "norm_rope_store_kernel": config.layers,
        "silu_mul_kernel": config.layers,
    }
    tensors = [
        argument
        for kernel in kernels.values()
        for arguments in kernel.launches
        for argument in arguments
        if isinstance(argument, torch.Tensor)
    ]
    assert {tensor.device for tensor in tensors} == {META}


def test_where_weights_in_fp8_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, sizes = torch.device("cuda", 0), (64, 96)
    check_fp8(CPU, torch.float32, (3,))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (8, 0))
    with pytest.raises(InputError, match=r"compute capability 8.9 or more; cuda:0 has 8.0"):
        check_fp8(gpu, torch.bfloat16, sizes)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    check_fp8(gpu, torch.bfloat16, sizes)
    with pytest.raises(InputError, match="bfloat16 on a GPU, not float16"):
        check_fp8(gpu, torch.float16, sizes)
    with pytest.raises(InputError, match="multiples of 16 numbers; the model has 40"):
        check_fp8(gpu, torch.bfloat16, (64, 40))
    with pytest.raises(InputError, match="only the dense decoder computes with codes"):
        load(DEMO_PATH, backend="transformers", weight_dtype="fp8")


def test_weights_in_fp8_are_another_revision() -> None:
    """Keys and values of other weights must not be taken for the present weights'."""
    plain, coded = load(DEMO_PATH), load(DEMO_PATH, weight_dtype="fp8")
    assert coded.revision == f"{plain.revision}-fp8"
    assert coded.decoder.weight_bytes < plain.decoder.weight_bytes / 4
