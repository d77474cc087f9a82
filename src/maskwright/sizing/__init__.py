"""Capacity on paper: how memory is divided, and what bounds decoding. Imports no torch.

The engine sizes its pool by these formulas, and `maskwright plan` computes with them what a machine
could serve. docs/capacity.md derives them.

- `processors`: The processors that this process may use.
- `serving_plan`: What a model can serve in a given memory, and at which rate at most; the memory
  of a step.
- `units`: Sizes and counts as people write them.
"""
