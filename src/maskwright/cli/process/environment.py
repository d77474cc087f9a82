"""The environment of the process, as it must be before torch is loaded, or Ray started.

Only what starts a process may call this: the command line, the tests, the benchmarks. Importing the
library writes no environment variable; docs/models.md tells its users what to set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Final

MKL_MODE: Final = "AUTO,STRICT"
"""The widest vectors of the processor, and sums in one order.

MKL computes the matrix products of torch's builds for x86. On Intel processors it chooses the
kernel, and with it the order of a sum, by the number of rows. In its strict mode of conditional
numerical reproducibility the order depends neither on rows nor on threads, and products take no
more time."""

PROCESSORS: Final = Path("/proc/cpuinfo")
"""The file in which Linux describes the processors."""


def prepare_environment(
    environment: MutableMapping[str, str] = os.environ, processors: Path = PROCESSORS
) -> None:
    """On an Intel processor, make MKL compute each row independently of the others. A value that
    the user has set is kept.

    Nothing is set for other processors, for which MKL has no strict mode: on an AMD EPYC, products
    depend on the number of rows least if nothing is set (decision 2). MKL reads the variable once,
    when it computes its first product. Later this function has no effect, and the engine's probe
    (`models.batch_invariance`) reports what holds."""
    if "MKL_CBWR" not in environment and _is_intel(processors):
        environment["MKL_CBWR"] = MKL_MODE


def set_defaults(variables: Mapping[str, str]) -> None:
    """Set variables of this process. Those that the user has set are kept."""
    for name, value in variables.items():
        os.environ.setdefault(name, value)


def _is_intel(processors: Path) -> bool:
    try:
        return "GenuineIntel" in processors.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
