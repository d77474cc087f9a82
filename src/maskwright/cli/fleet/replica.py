"""What a replica tells when it has started, wherever it runs, and the roles that replicas have."""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.dist.routing.replica_state import Role
from maskwright.errors import InputError


@dataclass(frozen=True, slots=True)
class StartedReplica:
    """A server that is ready: its address without a path, and the process that it is."""

    url: str
    place: str


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
    counts: tuple[tuple[Role, int], ...] = (
        ("prefill", prefill),
        ("decode", decode),
        ("both", rest),
    )
    return [role for role, count in counts for _ in range(count)]
