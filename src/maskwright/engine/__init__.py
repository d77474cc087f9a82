"""The inference engine: continuous batching of many requests through one model, a step at a time.

A step plans which sequences compute how many tokens (`schedule/`), runs one forward and samples
(`step/`), and releases text that is safe to send (`request/`). docs/engine.md explains it.

- `admit/`: Admission: which requests enter the queue, which wait and which are refused early.
- `draft/`: Speculative decoding with a smaller model.
- `kv/`: Key/value blocks: allocation, reference counts and the prefix tree.
- `on_device/`: Decode steps that the device computes by itself, without the host between them.
- `request/`: One request: its parameters, its state, its text, its trace.
- `schedule/`: The scheduler: which sequences run in the next step, with which blocks.
- `step/`: One step of the engine, and the thread that runs step after step.
- `tiers/`: Stores for blocks that the pool has no room for: host memory and disk.
- `adapters`: Which low-rank adapters are in memory.
- `capacity`: How many key/value blocks fit into memory.
- `config`: The engine's settings and limits.
- `distribution`: A snapshot of a histogram.
- `histogram`: Counts of values between bounds.
- `stats`: What the engine counts and measures, and a snapshot of that.

Each name is imported when it is first asked for: settings can be checked without importing torch.
"""

from __future__ import annotations

from maskwright.exports import importer, public_names

_names = public_names(__file__)
__all__ = [*_names]  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = importer(__name__, _names, globals())
