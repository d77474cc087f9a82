"""A stand-in that notes where the host would wait for a device.

Tensors on the device `meta` stand for a GPU's. They have no data, so an operation that mixes
them with the host's memory is an error, as on a GPU. What is read from them is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

READS = (
    *("item", "tolist", "cpu", "numpy", "equal", "is_nonzero", "allclose", "__bool__"),
    *("__int__", "__index__", "__float__", "nonzero", "masked_select", "unique"),
)
"""Operations whose result, or its shape, is on the host or depends on numbers of the device."""


def on_device(value: object) -> bool:
    return isinstance(value, Tensor) and value.device.type == "meta"


class HostWaits(TorchFunctionMode):
    """`waits`: the operations for which the host waited; `uploads`: copies from the host for which
    it did not."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []
        self.uploads = 0

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", str(func))
        if self._waits(name, args, kwargs):
            self.waits.append(name)
        if name == "tolist" and on_device(args[0]):
            return torch.zeros(args[0].shape, dtype=args[0].dtype).tolist()
        if name == "copy_" and on_device(args[1]) and not on_device(args[0]):
            return args[0].zero_()
        if name == "cpu" and on_device(args[0]):
            return torch.zeros(args[0].shape, dtype=args[0].dtype)
        return func(*args, **kwargs)

    def _waits(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        if name in READS:
            return on_device(args[0])
        if name in ("tensor", "as_tensor"):
            return torch.device(kwargs.get("device") or "cpu").type == "meta"
        if name in ("__getitem__", "__setitem__"):
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            return on_device(args[0]) and any(map(_from_host, index))
        if name in ("to", "copy_"):
            crosses = self._crosses(name, args, kwargs)
            self.uploads += crosses and bool(kwargs.get("non_blocking"))
            return crosses and not kwargs.get("non_blocking")
        return False

    def _crosses(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether a copy is one between the host and the device."""
        if name == "copy_":
            return on_device(args[0]) != on_device(args[1])
        devices = [each for each in (*args[1:], *kwargs.values()) if isinstance(each, torch.device)]
        return any((each.type == "meta") != on_device(args[0]) for each in devices)


def _from_host(index: object) -> bool:
    """Whether an index is a list or a tensor of the host, or one of truth values, whose number has
    to be counted first."""
    if isinstance(index, Tensor):
        return not on_device(index) or index.dtype == torch.bool
    return isinstance(index, list)
