"""Chooses among the sets of instructions that the header beside this file lists."""

import os

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef extern from "instructions.h":
    int best_set() nogil

_NAMES = ("baseline", "avx2", "avx512")
_VARIABLE = "MASKWRIGHT_INSTRUCTIONS"

AVAILABLE = _NAMES[: best_set() + 1]
INSTRUCTIONS = os.environ.get(_VARIABLE) or AVAILABLE[len(AVAILABLE) - 1]
if INSTRUCTIONS not in AVAILABLE:
    raise ImportError(
        f"{_VARIABLE} is {INSTRUCTIONS!r}; on this processor it can be {', '.join(AVAILABLE)}"
    )
NUMBER = AVAILABLE.index(INSTRUCTIONS)
