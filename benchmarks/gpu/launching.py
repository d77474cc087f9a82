"""What launching a forward takes the host, without a GPU.

    python benchmarks/gpu/launching.py [--cases piece,decode,adapter] [--save]

A decoder in the shape of a 0.6B model computes in memory that nothing is read from, with a driver
that launches nothing, so that what is left is the work of the host: torch's, Triton's and the
package's Python. Products of torch are left out: each takes what making its result takes. The
steps are those that are not recorded as graphs: `piece`, 512 tokens of a prompt after 512;
`decode`, 64 sequences of 1,024 positions (as a draft model computes them); `adapter`, the same with
an adapter for all modules in each row.

`host us` is the processor time of a forward, the least of `REPEATS`; `launches` and `products` are
counted. What a real driver and torch's products add isn't in these figures.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import torch
from torch import Tensor

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
with suppress(ImportError):  # before the kernels, which a process without a GPU leaves alone
    import_module("triton")

from benchmarks.gpu.decode_step import BLOCK, COMMON, SHAPES, weight_shapes
from benchmarks.report import SKIPPED, Report, options_of
from maskwright.kernels import device, few_rows
from maskwright.kernels.device import AVAILABLE
from maskwright.models.adapter import Adapter, LowRank
from maskwright.models.config import parse_config
from maskwright.models.decoder import ForwardBatch, lay_out
from maskwright.models.dense import DenseDecoder
from maskwright.models.runs import Run

REPEATS: Final = 100
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""What the C library is told about freed memory: to keep it, as torch does that of a device."""
CPU: Final = torch.device("cpu")
RANK: Final = 16
VOCABULARY: Final = 4096
"""Tokens; few, since the logits of a product of torch's are copied by the host here."""


class NoDriver:
    """A GPU of the generation sm_90 that launches nothing, and counts how often. Products of torch
    are counted too, and not computed."""

    def __init__(self) -> None:
        self.launched = self.multiplied = 0

    def product(
        self, x: Tensor, weight: Tensor, bias: Tensor | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Return memory for `few_rows.product`."""
        del bias
        self.multiplied += 1
        return torch.empty(len(x), len(weight), dtype=x.dtype) if out is None else out

    def launcher_cls(self, source: Any, metadata: Any) -> Callable[..., None]:
        """Return what launches a program."""
        del source, metadata

        def launch(*arguments: object) -> None:
            del arguments
            self.launched += 1

        return launch

    @property
    def utils(self) -> NoDriver:
        return self

    def load_binary(self, *_: object) -> tuple[int, int, int, int, int]:
        """Return module, function, registers, spills and the most threads of a program."""
        return 1, 1, 32, 0, 1024

    def get_device_properties(self, number: int) -> dict[str, int]:
        del number
        return {"max_shared_mem": 227 << 10}

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, number: int) -> int:
        return number

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget  # noqa: PLC0415  (optional)

        return GPUTarget("cuda", 90, 32)


@contextmanager
def launching_nothing(driver: NoDriver) -> Generator[None]:
    """Launch kernels on tensors of the CPU by `driver`, as on a GPU whose launches overlap. What
    Triton chooses to compile isn't compiled."""
    import triton  # noqa: PLC0415  (optional)

    class Program(triton.compiler.CompiledKernel):
        def __init__(self, source: Any, **_: object) -> None:
            self.src, self.name, self.packed_metadata = source, source.name, ()
            self.module = self.function = id(self)
            self._run = driver.launcher_cls(source, None)

    with (
        patch.object(triton.compiler, "compile", Program),
        patch.object(few_rows, "product", driver.product),
        choosing_kernels(driver),
    ):
        yield


@contextmanager
def choosing_kernels(driver: NoDriver) -> Generator[None]:
    """Have `driver` in the place of Triton's own, and kernels do the work on tensors that are not
    on a GPU, as on one whose launches overlap."""
    import triton  # noqa: PLC0415  (optional)

    def always(_: object) -> bool:
        return True

    with ExitStack() as stack:
        stack.callback(forget_programs)
        forget_programs()
        stack.enter_context(patch.object(triton.runtime.driver, "_active", driver))
        stack.enter_context(patch.object(device, "launches_overlap", lambda: True))
        for name, module in list(sys.modules.items()):
            if name.startswith("maskwright."):
                for function in ("runs_kernels", "kernels_run_on"):
                    if hasattr(module, function):
                        stack.enter_context(patch.object(module, function, always))
        yield


def forget_programs() -> None:
    """Have all kernels of the package look for their programs anew."""
    for name, module in list(sys.modules.items()):
        for kernel in vars(module).values() if name.startswith("maskwright.kernels") else ():
            if isinstance(kernel, device.Kernel):
                kernel.device_caches.clear()


def decoder() -> DenseDecoder:
    """A decoder in the shape of a 0.6B model, whose weights are any memory."""
    config = parse_config({**COMMON, **SHAPES["0.6B"], "vocab_size": VOCABULARY})
    shapes = weight_shapes(config).items()
    weights = {name: torch.empty(shape, dtype=torch.bfloat16) for name, shape in shapes}
    return DenseDecoder(config, weights, torch.bfloat16, compiled=False)


def adapter_of(model: DenseDecoder) -> Adapter:
    """An adapter of rank `RANK` for all modules."""
    modules = {
        name: LowRank(
            torch.empty(RANK, inputs, dtype=torch.bfloat16),
            torch.empty(outputs, RANK, dtype=torch.bfloat16),
        )
        for name, (outputs, inputs) in model.adapter_shapes.items()
    }
    return Adapter(modules).on(CPU, model.adapter_shapes)


def batch_of(model: DenseDecoder, case: str) -> ForwardBatch:
    """The rows of a case, as they are on a device."""
    if case == "piece":
        runs = [Run([7] * 512, 512, range(1, 65), 1)]
    else:
        worn = adapter_of(model) if case == "adapter" else None
        runs = [Run([7], 1023, range(1, 65), 1, worn) for _ in range(64)]
    batch = lay_out(runs, BLOCK, model.plan)
    return batch.to(torch.device("cpu", 0))  # another name of it: what goes to a device is int32


def measure(case: str, model: DenseDecoder, driver: NoDriver) -> dict[str, float]:
    """Return the figures of a case, whose launches are counted by `driver`."""
    pool, batch = model.new_pool(66, BLOCK), batch_of(model, case)

    def forward() -> object:
        return model.forward(batch, pool)

    forward()
    before = driver.launched, driver.multiplied
    forward()
    launched, multiplied = driver.launched - before[0], driver.multiplied - before[1]
    return {"launches": launched, "products": multiplied, "host us": least_us(forward)}


def least_us(function: Callable[[], object]) -> float:
    """Return the least processor time that `function` took, in microseconds."""
    least = float("inf")
    for _ in range(REPEATS):
        begin = time.thread_time()
        function()
        least = min(least, time.thread_time() - begin)
    return 1e6 * least


CASES: Final = ("piece", "decode", "adapter")


def main() -> int:
    options = options_of(__doc__, cases=CASES)
    if not AVAILABLE:
        print("skipped: Triton is not installed", file=sys.stderr)
        return SKIPPED
    torch.set_num_threads(1)
    for option in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
        ctypes.CDLL(None).mallopt(option, 32 << 20)
    report = Report("launching", packages=("torch", "triton"))
    driver = NoDriver()
    with launching_nothing(driver):
        model = decoder()
        for case in options.cases:
            report.add(case, **measure(case, model, driver))
    report.finish(save=options.save)
    return 0


if __name__ == "__main__":
    sys.exit(main())
