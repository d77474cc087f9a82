"""Muon (Jordan et al., 2024): momentum whose 2-D updates are made orthogonal.

Like torch.optim.Muon, but matrices of one shape are stacked and multiplied together, because most
of the time on a CPU goes into the many small products of the Newton-Schulz steps.
"""

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5


def orthogonal(updates: Tensor) -> Tensor:
    """Newton-Schulz: the nearest semi-orthogonal matrices to ``updates`` [n, rows, columns]."""
    a, b, c = COEFFICIENTS
    x = updates.bfloat16()
    x = x if updates.shape[1] <= updates.shape[2] else x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(STEPS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return (x if updates.shape[1] <= updates.shape[2] else x.mT).float()


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised; the step of a matrix has spectral norm about ``lr``."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """One update of every matrix."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                by_shape[parameter.shape].append(parameter)
            for shape, parameters in by_shape.items():
                updates: list[Tensor] = []
                for parameter in parameters:
                    state, gradient = self.state[parameter], parameter.grad
                    assert gradient is not None
                    if not state:
                        state["momentum"] = torch.zeros_like(parameter)
                    state["momentum"].lerp_(gradient, 1 - group["momentum"])
                    updates.append(torch.lerp(gradient, state["momentum"], group["momentum"]))
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, step in zip(
                    parameters, orthogonal(torch.stack(updates)), strict=True
                ):
                    parameter.add_(step, alpha=-scale)
