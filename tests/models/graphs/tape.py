"""A stand-in for CUDA graphs without a GPU: a tape of the operations that a function does.

As of a graph, only these operations are done again, on the very same memory: what Python decides
and computes while the function is recorded is fixed. An operation that reads from the device to the
host, which a GPU refuses while it records, is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

from maskwright.models.graphs import Recorder

READS = frozenset({"item", "is_nonzero"})
"""Operations that read, whose parts alone are tagged in torch."""


class Tape(TorchDispatchMode):
    """Records torch's operations, and the launches of Triton's kernels in its interpreter."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Callable[[], object]] = []

    def __torch_dispatch__(
        self,
        function: Any,
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        assert not _reads(function, args), f"{function} reads from the device to the host"
        result = function(*args, **kwargs)
        given = {_memory(leaf) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)}
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        if all(_memory(each) in given for each in made):
            if function._schema.is_mutable:
                self.steps.append(lambda: function(*args, **kwargs))
        else:
            self.steps.append(lambda: _into(made, function(*args, **kwargs)))
        return result

    def play(self) -> None:
        """Do what is recorded once more."""
        for step in self.steps:
            step()


def _reads(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether the result, or its shape, depends on numbers that are on the device."""
    if function.overloadpacket is torch.ops.aten.index:
        return any(index.dtype == torch.bool for index in args[1] if index is not None)
    unknown = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
    return function.overloadpacket.__name__ in READS or any(tag in function.tags for tag in unknown)


def _memory(tensor: Tensor) -> tuple[torch.device, int]:
    """What views of a tensor have in common with it."""
    return tensor.device, tensor.untyped_storage()._cdata


def _into(made: list[Tensor], result: object) -> None:
    """Write a new result to the memory of the first one, where later operations read it."""
    for old, new in zip(made, tree_leaves(result), strict=True):
        old.copy_(new)


class TapeRecorder(Recorder):
    """Records functions on tapes."""

    def __init__(self) -> None:
        self.tapes: list[Tape] = []

    def record(self, function: Callable[[], object]) -> Callable[[], object]:
        """A function that plays the tape of `function`."""
        tape = Tape()
        with _launches_on(tape), tape:
            function()
        self.tapes.append(tape)
        return tape.play


@contextmanager
def _launches_on(tape: Tape) -> Any:
    """Put the launches of kernels on a tape, but not what the interpreter does for them."""
    try:
        from triton.runtime.interpreter import InterpretedFunction  # noqa: PLC0415 - optional
    except ImportError:
        yield
        return
    run = InterpretedFunction.run

    def recording(kernel: Any, *args: Any, **options: Any) -> None:
        with _disable_current_modes():
            run(kernel, *args, **options)
        tape.steps.append(lambda: run(kernel, *args, **options))

    with patch.object(InterpretedFunction, "run", recording):
        yield
