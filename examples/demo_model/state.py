"""What a training run's checkpoint holds: model, optimisers, progress."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from examples.demo_model.batches import Batch
from examples.demo_model.llama import Model, Shape, load
from examples.demo_model.muon import Muon

ADAM_SHARE = 0.2
"""AdamW's rate (embeddings, norms) as a share of Muon's (all other matrices)."""


@dataclass(slots=True)
class Progress:
    """Where the run stands; ``index`` is the first example that is not yet used."""

    step: int = 0
    tokens: int = 0
    index: int = 0
    seconds: float = 0.0


class State:
    """Model and optimisers of one worker, or of the one model on a device."""

    def __init__(
        self,
        path: Path,
        rate: float,
        shape: Shape = Shape(),  # noqa: B008
        start: Path | None = None,
        device: str = "cpu",
    ) -> None:
        torch.manual_seed(0)
        self.path, self.rate, self.device = path, rate, torch.device(device)
        self.model = Model(shape).to(self.device)
        named = list(self.model.named_parameters())
        matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name]
        others = [p for name, p in named if p.ndim != 2 or "embed" in name]
        self.muon = Muon(matrices, lr=rate)
        self.adam = torch.optim.AdamW(
            others, lr=rate * ADAM_SHARE, betas=(0.9, 0.98), weight_decay=0.0
        )
        self.progress = Progress()
        if start is not None and not path.exists():
            load(self.model, start)
        if path.exists():
            saved = torch.load(path, map_location=self.device, weights_only=True)
            self.model.load_state_dict(saved["model"])
            for optimiser, state in zip((self.muon, self.adam), saved["optimisers"], strict=True):
                optimiser.load_state_dict(state)
            self.progress = Progress(**saved["progress"])

    def save(self) -> None:
        """Write the checkpoint, replacing the last one in one step."""
        part = self.path.with_suffix(".part")
        state = {
            "model": self.model.state_dict(),
            "optimisers": [self.muon.state_dict(), self.adam.state_dict()],
            "progress": asdict(self.progress),
        }
        torch.save(state, part)
        os.replace(part, self.path)

    def learn(self, batch: Batch, factor: float) -> float:
        """One step at ``factor`` times the full rate; the loss before it."""
        batch = batch.to(self.device)
        loss = F.cross_entropy(self.model(batch.ids, batch.at), batch.targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.muon.param_groups[0]["lr"] = self.rate * factor
        self.adam.param_groups[0]["lr"] = self.rate * factor * ADAM_SHARE
        for optimiser in (self.muon, self.adam):
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        return loss.item()

    def flat(self) -> Tensor:
        """All parameters in one vector."""
        return torch.nn.utils.parameters_to_vector(self.model.parameters()).detach()

    @torch.no_grad()
    def adopt(self, flat: Tensor) -> None:
        """Take the parameters from one vector, in place."""
        start = 0
        for parameter in self.model.parameters():
            parameter.copy_(flat[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
