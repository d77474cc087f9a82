"""Options of `serve` that aren't settings as they are given: adapters, objectives, replicas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from maskwright.engine.schedule.service import ServiceClass
from maskwright.errors import InputError


def adapter_folders(given: list[str]) -> dict[str, Path]:
    """Folders of adapters by name. Raises InputError for what is no NAME=FOLDER, and for a name
    that is given twice."""
    folders: dict[str, Path] = {}
    for text in given:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise InputError(f"--adapter {text}: NAME=FOLDER is needed", param="adapter")
        if name in folders:
            raise InputError(f"--adapter: {name} is given twice", param="adapter")
        folders[name] = Path(folder)
    return folders


def with_objectives(
    classes: Iterable[ServiceClass], ttft: list[str], tpot: list[str]
) -> tuple[ServiceClass, ...]:
    """The classes with the objectives that are given as CLASS=SECONDS. Raises InputError."""
    by_name = {item.name: item for item in classes}
    for option, given in (("ttft", ttft), ("tpot", tpot)):
        for text in given:
            name, _, number = text.partition("=")
            if name not in by_name:
                raise InputError(
                    f"--{option} {text}: CLASS=SECONDS is needed; classes are {', '.join(by_name)}",
                    param=option,
                )
            try:
                by_name[name] = replace(by_name[name], **{option: float(number)})
            except ValueError:
                raise InputError(
                    f"--{option} {text}: {number!r} is no number of seconds", param=option
                ) from None
    return tuple(by_name.values())


def replica_options(given: list[str], count: int, memory_fraction: float | None) -> list[str]:
    """The options of one of `count` replicas, which share the memory of the machine."""
    if memory_fraction is None:
        return given
    return [*given, "--memory-fraction", str(memory_fraction / count)]


def check_replicated(tls: str | None, batch_folder: Path | None) -> None:
    """Raise InputError for what several replicas can't do yet."""
    if tls is not None:
        raise InputError(
            "--replicas speaks HTTP only; put a proxy with the certificate in front of it",
            param="replicas",
        )
    if batch_folder is not None:
        raise InputError(
            "--replicas has no batches, since replicas can't share a folder; use one server for "
            "--batch-folder",
            param="batch_folder",
        )
