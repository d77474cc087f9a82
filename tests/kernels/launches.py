"""Which kernels the package has, which of them are launched, and how."""

from __future__ import annotations

import ast
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from torch import Tensor

from benchmarks.gpu.launching import NoDriver
from maskwright.kernels import apply_mask
from maskwright.kernels.device import AVAILABLE

KERNELS = Path(__file__).resolve().parents[2] / "kernels"


def kernels_of_the_package() -> set[str]:
    """The names of all functions that are compiled by `jit` and launched with a grid."""
    compiled: set[str] = set()
    with_grid: set[str] = set()
    for path in KERNELS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.FunctionDef(name=name) if is_compiled(node):
                    compiled.add(name)
                case ast.Call(func=ast.Subscript(value=ast.Name(id=name))):
                    with_grid.add(name)
                case _:
                    pass
    kernels = compiled & with_grid
    assert kernels == {name for name in compiled if name.endswith("_kernel")}
    return kernels


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether `jit` decorates a function, with options or without."""
    names = [each for part in function.decorator_list for each in ast.walk(part)]
    return any(isinstance(each, ast.Name) and each.id == "jit" for each in names)


@contextmanager
def launched() -> Generator[set[str]]:
    """Yield the names of the kernels that are launched meanwhile."""
    names: set[str] = set()
    if not AVAILABLE:
        yield names
        return
    kind: Any = type(apply_mask.mask_kernel)
    run = kind.run

    def noting(kernel: Any, *args: Any, **options: Any) -> Any:
        names.add(kernel.fn.__name__)
        return run(kernel, *args, **options)

    with patch.object(kind, "run", noting):
        yield names


class Launches(NoDriver):
    """Notes what is launched: program, grid, how, and the arguments that aren't constants; and of
    products weights and biases."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[Any, ...]] = []
        self._programs = 0

    def launcher_cls(self, source: Any, metadata: Any) -> Any:
        del metadata
        constant = {place for (place,) in source.constants}

        def launch(*arguments: Any) -> None:
            x, y, z, stream, function, packed, *_ = arguments[:9]
            values = [
                value.data_ptr() if isinstance(value, Tensor) else value
                for place, value in enumerate(arguments[9:])
                if place not in constant
            ]
            self.found.append(((x, y, z), stream, function, packed, *values))

        return launch

    def product(
        self, x: Tensor, weight: Tensor, bias: Tensor | None = None, out: Tensor | None = None
    ) -> Tensor:
        self.found.append(("product", weight.data_ptr(), bias is not None and bias.data_ptr()))
        return super().product(x, weight, bias, out)

    def load_binary(self, *_: object) -> tuple[int, int, int, int, int]:
        self._programs += 1
        return 1, self._programs, 32, 0, 1024
