"""The systems by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maskwright.sim.systems.claim import SystemReport
from maskwright.sim.systems.distserve import distserve
from maskwright.sim.systems.memserve import memserve
from maskwright.sim.systems.mooncake import mooncake
from maskwright.sim.systems.orca import orca
from maskwright.sim.systems.rtp_llm import rtp_llm
from maskwright.sim.systems.sarathi import sarathi
from maskwright.sim.systems.sglang import sglang
from maskwright.sim.systems.splitwise import splitwise
from maskwright.sim.systems.tensorrt_llm import tensorrt_llm
from maskwright.sim.systems.tetriinfer import tetriinfer
from maskwright.sim.systems.vllm import vllm

SYSTEMS: Final[dict[str, Callable[[float], SystemReport]]] = {
    "orca": orca,
    "vllm": vllm,
    "sarathi": sarathi,
    "sglang": sglang,
    "tensorrt-llm": tensorrt_llm,
    "distserve": distserve,
    "splitwise": splitwise,
    "tetriinfer": tetriinfer,
    "memserve": memserve,
    "mooncake": mooncake,
    "rtp-llm": rtp_llm,
}
"""For each system the function that simulates its mechanisms; the argument multiplies the number of
requests."""
