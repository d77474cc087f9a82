"""The processors that this process may use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

GROUPS: Final = Path("/sys/fs/cgroup")
"""Where Linux describes the control groups of a process; in a container, the container's own."""


def usable_processors(groups: Path = GROUPS) -> int:
    """Return how many processors this process can keep busy: as many as the system lets it run on,
    or fewer where its control group has a quota of their time, as a container with `--cpus` has.
    More threads would use up the quota at once, and then all wait for the next period."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    most = len(allowed) or os.cpu_count() or 1
    quota = _quota(groups)
    return most if quota is None else max(1, min(most, int(quota)))


def _quota(groups: Path) -> float | None:
    """The quota in processors, of the second or the first version of control groups; None if there
    is none."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            texts = [(groups / name).read_text(encoding="ascii") for name in names]
            quota, period = " ".join(texts).split()
            processors = int(quota) / int(period)
        except (OSError, ValueError, ZeroDivisionError):  # no such group, or "max"
            continue
        if processors > 0:  # -1: no quota
            return processors
    return None
