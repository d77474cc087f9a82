"""Where the kernels' tests run: the twins on the CPU, the kernels on a GPU or in the interpreter.

The tests compare with references of their own, so that one test holds the twin in an ordinary
run, the kernel where there is a GPU, and the kernel in Triton's interpreter if TRITON_INTERPRET=1
is set, which `tests/kernels/test_interpreter.py` does in a process of its own.
"""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> torch.device:
    return torch.device(request.param)
