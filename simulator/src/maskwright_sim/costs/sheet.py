"""Seconds of a step from the data sheets of a device and a model (a roofline).

The matrix products of a step take the longer of two times: that of their arithmetic and that of
reading the weights. Attention comes on top: prompts are bounded by arithmetic, decodes by reading
keys and values. Intra-operator (tensor) parallelism divides arithmetic and bytes, and adds two
all-reduce operations for each layer; inter-operator (pipeline) parallelism divides the layers into
stages, which work on different batches at one time (Zhong et al., "DistServe", OSDI'24).
"""

from __future__ import annotations

from typing import Final

from maskwright.immutable import Immutable
from maskwright_sim.costs.work import StepWork


class DeviceSheet(Immutable):
    """A device. `flops`: dense operations a second in the weights' data type. `bandwidth`: bytes a
    second of its memory, which holds `memory` bytes. `link`: bytes a second to another device of
    its node; `network`: to a device of another node. `price`: dollars an hour, for comparisons.
    The efficiencies are the shares of the peaks that a serving engine reaches; `overhead` is the
    seconds of a step in which the device computes nothing."""

    name: str
    flops: float
    bandwidth: float
    memory: float
    link: float
    network: float
    price: float = 1.0
    compute_efficiency: float = 0.6
    memory_efficiency: float = 0.7
    overhead: float = 0.002


class ModelSheet(Immutable):
    """A decoder-only model. `parameters`, `layers`, `hidden` (width of the residual stream),
    `kv_width` (heads of keys times their dimension), `bytes_each` (of a weight, a key and a
    value)."""

    name: str
    parameters: float
    layers: int
    hidden: int
    kv_width: int
    bytes_each: float = 2.0

    @property
    def weight_bytes(self) -> float:
        """Bytes of the weights."""
        return self.parameters * self.bytes_each

    @property
    def kv_bytes(self) -> float:
        """Bytes of the keys and values of one token."""
        return 2 * self.layers * self.kv_width * self.bytes_each


A100 = DeviceSheet("A100-80G", 312e12, 2.039e12, 80e9, 300e9, 25e9, price=1.8)
H100 = DeviceSheet("H100-80G", 989e12, 3.35e12, 80e9, 450e9, 50e9, price=3.6)
DEVICES = {"a100": A100, "h100": H100}
LLAMA_13B = ModelSheet("13B", 13e9, 40, 5120, 5120)
LLAMA_70B = ModelSheet("70B (grouped heads)", 70e9, 80, 8192, 1024)
LLAMA_8B = ModelSheet("8B (grouped heads)", 8e9, 32, 4096, 1024)
WEIGHTS: Final = {"16": (1.0, 1.0), "w8a8": (0.5, 2.0), "w4a16": (0.25, 1.0), "w4a8": (0.25, 2.0)}
"""How weights and activations are quantized: bytes of the weights and speed of the arithmetic, as
multiples of those with 16 bits. Keys and values stay as they are."""
MODELS = {"13b": LLAMA_13B, "70b": LLAMA_70B, "8b": LLAMA_8B}


class SheetCosts(Immutable):
    """The cost model of `intra` times `inter` devices that hold one copy of the model. `seconds`
    is the time for which a step occupies a stage of the pipeline; `latency` is the time until its
    tokens are there. `weights`: a name of `WEIGHTS`."""

    device: DeviceSheet
    model: ModelSheet
    intra: int = 1
    inter: int = 1
    weights: str = "16"

    @property
    def weight_bytes(self) -> float:
        """Bytes of the weights as they are quantized."""
        return self.model.weight_bytes * WEIGHTS[self.weights][0]

    def seconds(self, work: StepWork) -> float:
        """The seconds for which a step with this work occupies the first stage."""
        return self.latency(work) / self.inter

    def latency(self, work: StepWork) -> float:
        """The seconds from the start of a step to its tokens."""
        device, model = self.device, self.model
        flops = device.flops * device.compute_efficiency * self.intra
        fast = flops * WEIGHTS[self.weights][1]
        bandwidth = device.bandwidth * device.memory_efficiency * self.intra
        products = max(
            2 * model.parameters * work.tokens / fast,
            self.weight_bytes / bandwidth,
        )
        wide = 4 * model.layers * model.hidden
        attention = wide * work.prompt_positions / flops + model.kv_bytes * work.context / bandwidth
        copies = work.copied * model.kv_bytes / device.network
        return products + attention + copies + self._reductions(work) + device.overhead

    def _reductions(self, work: StepWork) -> float:
        """Two all-reduce operations for each layer, in a ring."""
        if self.intra == 1:
            return 0.0
        share = 2 * (self.intra - 1) / self.intra
        moved = share * work.tokens * self.model.hidden * self.model.bytes_each
        return 2 * self.model.layers * moved / self.device.link

    def positions(self, reserve: float = 0.1) -> int:
        """Positions of keys and values that fit beside the weights, with the share `reserve` of
        the memory left free; 0 or less where the model does not fit."""
        devices = self.intra * self.inter
        room = devices * self.device.memory * (1 - reserve) - self.weight_bytes
        return int(room / self.model.kv_bytes)
