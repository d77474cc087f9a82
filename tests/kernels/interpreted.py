"""Cases of the kernels' tests that take long in Triton's interpreter."""

from __future__ import annotations

import pytest


def long(*values: object) -> object:
    """Parameters of a case that `test_interpreter.py` runs with `--slow` only, since others of the
    same test take the same path through the kernels. Elsewhere it is a case like any other."""
    return pytest.param(*values, marks=pytest.mark.long_interpreted)
