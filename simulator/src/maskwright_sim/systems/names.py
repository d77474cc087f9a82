"""The systems by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maskwright_sim.systems.claim import SystemReport
from maskwright_sim.systems.distserve import distserve
from maskwright_sim.systems.memserve import memserve
from maskwright_sim.systems.mooncake import mooncake
from maskwright_sim.systems.orca import orca
from maskwright_sim.systems.rtp_llm import rtp_llm
from maskwright_sim.systems.sarathi import sarathi
from maskwright_sim.systems.sglang import sglang
from maskwright_sim.systems.splitwise import splitwise
from maskwright_sim.systems.tensorrt_llm import tensorrt_llm
from maskwright_sim.systems.tetriinfer import tetriinfer
from maskwright_sim.systems.vllm import vllm

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
