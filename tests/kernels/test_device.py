"""Without Triton, which is optional, the twins do the work."""

from __future__ import annotations

import subprocess
import sys


def test_masks_are_applied_without_triton() -> None:
    program = """
import sys
sys.modules["triton"] = None
import torch
from maskwright.kernels.apply_mask import apply_mask
from maskwright.kernels.device import AVAILABLE, INTERPRETED
logits = torch.zeros(1, 4)
apply_mask(logits, torch.tensor([[5]], dtype=torch.int32))
print(AVAILABLE, INTERPRETED, logits.tolist())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "False False [[0.0, -inf, 0.0, -inf]]\n", run.stderr
