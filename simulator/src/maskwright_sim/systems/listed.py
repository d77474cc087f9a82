"""The names of the systems. Imports none of them, as `--help` needs the names."""

from __future__ import annotations

from typing import Final

SYSTEM_NAMES: Final = (
    *("orca", "vllm", "sarathi", "sglang", "tensorrt-llm", "distserve", "splitwise"),
    *("tetriinfer", "memserve", "mooncake", "rtp-llm"),
)
