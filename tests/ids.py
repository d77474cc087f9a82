"""Names of test cases that are equal in every process.

Processes that run tests together have to find the same names, which `str` doesn't give: the default
representation of an object holds its address, and the order of a set differs from run to run.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"<(?:function )?(?:\w+\.)*([\w<>]+)(?: object)? at 0x[0-9a-f]+>")


def named(value: object) -> str:
    """`str` of a value: the name of a class or function for an object without a text of its own,
    and the members of a set in order."""
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(named, value))) + "}"
    return _ADDRESS.sub(r"\1", str(value))
