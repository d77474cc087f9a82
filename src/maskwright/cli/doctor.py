"""Say what this machine is, and what to do where something slows Maskwright down or stops it.

Looks at processors, memory, versions, the folder of tables, the build of torch and a GPU; and
tries on the demo model whether the bits of its results are independent of the batch.

Exit code: 0 if there is nothing to do; 1 if there is something.
"""

from __future__ import annotations

from typing import Annotated

from maskwright.cli.arguments import Option
from maskwright.cli.options import JSON_HELP
from maskwright.cli.process.loading import loading


def doctor(as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False) -> int:
    with loading():
        from maskwright.cli import doctor_work  # noqa: PLC0415 - not for the help
    return doctor_work.doctor(as_json=as_json)
