"""Say what this machine is, and what to do where something slows Maskwright down or stops it.

Looks at processors, memory, versions, the folder of tables, the build of torch and a GPU; and
tries on the demo model whether the bits of its results are independent of the batch.

Exit code: 0 if there is nothing to do; 1 if there is something.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP
from maskwright.settings import option


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """What `maskwright doctor` is given."""

    as_json: bool = option(False, JSON_HELP, flag="--json")
