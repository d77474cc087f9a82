"""Rules of rows that all go one way through the sampling kernels, for a compiler that is to leave
out the other ways: stand-ins for `rules_of` of `kernels/sample_draw.py`."""

# Triton is untyped.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

from typing import Any, Final

from maskwright.kernels.device import jit, tl


@jit
def greedy_rules(number, temperature, top_k, top_p, least, vocab):
    """Rules of greedy rows."""
    return 0.0, 0, 1.0, float("-inf"), False


@jit
def drawn_rules(number, temperature, top_k, top_p, least, vocab):
    """Rules of rows that are drawn from all tokens."""
    return tl.load(temperature + number), 0, 1.0, float("-inf"), False


@jit
def truncated_rules(number, temperature, top_k, top_p, least, vocab):
    """Rules of rows with any of top-k, top-p and min-p."""
    kept, share, drop = tl.load(top_k + number), tl.load(top_p + number), tl.load(least + number)
    return tl.load(temperature + number), kept, share, drop, True


RULES: Final[dict[str, Any]] = {
    "greedy": greedy_rules,
    "drawn": drawn_rules,
    "truncated": truncated_rules,
}
