"""The roles that replicas have."""

from __future__ import annotations

from maskwright.dist.routing.replica_state import Role
from maskwright.errors import InputError


def roles_of(replicas: int, prefill: int, decode: int) -> list[Role]:
    """Return the roles of the replicas that are asked for. Raises InputError."""
    if (prefill > 0) != (decode > 0):
        raise InputError(
            "--prefill and --decode need each other: one side computes prompts, the other answers",
            param="prefill" if prefill else "decode",
        )
    split = prefill + decode
    if 1 < replicas < split:
        raise InputError(
            f"--replicas is {replicas}, but --prefill and --decode are {split} together",
            param="replicas",
        )
    rest = replicas - split if replicas > 1 or not split else 0
    counts: dict[Role, int] = {"prefill": prefill, "decode": decode, "both": rest}
    return [role for role, count in counts.items() for _ in range(count)]
