"""Launches of a function that are noted and made again with other tensors in the place of some.

The layers of a model launch the same kernels on other weights. What the host does before a launch
takes it longer than the launch itself: sizes and strides, memory for results, the choice of the
compiled program. So one layer is computed as it is written, what it launches is noted, and other
layers are these launches again: the same programs, on the same memory for what they compute in
between, with the addresses of their own weights.

`Noted` knows two kinds of steps: launches of kernels (`device.py`), and what `noted` computes,
which are products of torch. A function that is noted computes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from torch import Tensor

ALIGNMENT: Final = 16
"""Programs are compiled for addresses by whether they are multiples of so many bytes."""

SHIFTED: Final = "module"
"""The argument of kernels that differs from layer to layer, though it is no tensor."""


@dataclass(slots=True)
class NotedStep:
    """`do` with `arguments`; tensors may be given `by_address`. `shifted`: the place of the
    argument `SHIFTED`, and its value."""

    do: Callable[..., object]
    arguments: list[Any]
    by_address: bool = False
    shifted: tuple[int, int] | None = None


_steps: ContextVar[list[NotedStep | None] | None] = ContextVar("_steps", default=None)
"""What is noted so far, None being a step that can't be done again; None where nothing is noted."""


def is_noting() -> bool:
    """Whether what this thread launches is noted."""
    return _steps.get() is not None


def note(step: NotedStep | None) -> None:
    """Note a step that has been done; None is one that can't be done again."""
    steps = _steps.get()
    if steps is not None:
        steps.append(step)


def noted(function: Callable[..., Tensor], *arguments: Tensor | None) -> Tensor:
    """Return `function(*arguments)`, and note it: `function(*arguments, result)` writes its result
    to memory that there is."""
    result = function(*arguments)
    if is_noting():
        note(NotedStep(function, [*arguments, result]))
    return result


class Noted:
    """What `function` launches, which is done at once. `given`: the tensors that are others when it
    is done again; those that it computes in between, and its `results`, stay the same memory, which
    is kept as long as this is."""

    def __init__(
        self, function: Callable[[], tuple[Tensor, ...]], given: Sequence[Tensor | None]
    ) -> None:
        before = _steps.set([])
        try:
            self.results = function()
            steps = _steps.get() or []
        finally:
            _steps.reset(before)
        self._steps = [step for step in steps if step is not None]
        self._whole = len(self._steps) == len(steps)
        self._ends = [address % ALIGNMENT for address in _addresses(given)]
        self._kept = [argument for step in self._steps for argument in step.arguments]
        self._changes = list[tuple[NotedStep, int, int, Tensor]]()
        places = {address: place for place, address in enumerate(_addresses(given)) if address}
        for step in self._steps:
            for position, argument in enumerate(step.arguments):
                if isinstance(argument, Tensor):
                    address = argument.data_ptr()
                    if address in places:
                        self._changes.append((step, position, places[address], argument))
                    if step.by_address:
                        step.arguments[position] = address

    def repeat(self, given: Sequence[Tensor | None], shift: int = 0) -> bool:
        """Do it again with other tensors, of the shapes, strides and types of the first ones, in
        their order; a result may be among them. `shift` is added to the argument `SHIFTED`. False
        if that can't be done, and isn't."""
        addresses = _addresses(given)
        if not self._whole or [address % ALIGNMENT for address in addresses] != self._ends:
            return False
        for step, position, place, first in self._changes:
            other = given[place]
            assert other is not None
            step.arguments[position] = (
                addresses[place] if step.by_address else _seen_as(other, first)
            )
        for step in self._steps:
            if step.shifted is not None:
                position, first = step.shifted
                step.arguments[position] = first + shift
            step.do(*step.arguments)
        return True


def _addresses(tensors: Sequence[Tensor | None]) -> list[int]:
    return [0 if tensor is None else tensor.data_ptr() for tensor in tensors]


def _seen_as(tensor: Tensor, first: Tensor) -> Tensor:
    """Return `tensor` in the type and shape in which `first` was given to a step."""
    if tensor.dtype == first.dtype and tensor.shape == first.shape:
        return tensor
    return tensor.view(first.dtype).as_strided(first.shape, first.stride())
