"""The environment of the process, as it must be before torch is loaded.

Only what starts a process may call this: the command line, the tests, the benchmarks. Importing the
library writes no environment variable; docs/models.md tells its users what to set.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Final

MKL_MODE: Final = "AUTO,STRICT"
"""The widest vectors that the processor has, and sums in one order.

MKL computes the matrix products of torch's builds for x86. On Intel processors it chooses the
kernel, and with it the order of a sum, by the number of rows; its strict mode of conditional
numerical reproducibility does not, for any number of rows or threads, and takes no more time."""

PROCESSORS: Final = Path("/proc/cpuinfo")
"""Where Linux says which processors there are."""


def prepare_environment(
    environment: MutableMapping[str, str] = os.environ, processors: Path = PROCESSORS
) -> None:
    """On an Intel processor, make MKL compute a row alike whatever rows are beside it. A value that
    the user has set stays.

    Nothing is set for other processors. MKL has its strict mode for Intel's alone; on an AMD EPYC
    its products depend on the number of rows least where nothing is set (decision 2). MKL reads the
    variable once, when it computes its first product: after that this has no effect, and the
    engine's probe (`models.batch_invariance`) says what holds."""
    if "MKL_CBWR" not in environment and _is_intel(processors):
        environment["MKL_CBWR"] = MKL_MODE


def _is_intel(processors: Path) -> bool:
    try:
        return "GenuineIntel" in processors.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
