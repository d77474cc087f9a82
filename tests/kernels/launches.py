"""Which kernels the package has, and which of them are launched."""

from __future__ import annotations

import ast
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

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
