"""Sizes and counts as people write them: 76GB, 24GiB, 14B."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from maskwright.errors import InputError

SIZE_UNITS: Final[Mapping[str, int]] = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)},
    **{letter: 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}i": 1024**power for power, letter in enumerate("kmgt", 1)},
}
"""The letter alone counts as with its B, as Kubernetes has it."""
COUNT_UNITS: Final[Mapping[str, int]] = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}


def parse_size(text: str, option: str) -> int:
    """Return the bytes that `text` stands for: units of a thousand (GB) or of 1,024 (GiB). Raises
    InputError that names `option`."""
    return _parse(text, SIZE_UNITS, option, "a size such as 76GB or 24GiB")


def size_of(text: str) -> int | None:
    """The bytes that `text` stands for, such as 512MiB, 2GB, 1G or 0; None if it is no size."""
    return int(text) if text.isdecimal() else _value(text, SIZE_UNITS)


def parse_count(text: str, option: str) -> int:
    """Return the number that `text` stands for, such as 14B for 14 thousand million. Raises
    InputError that names `option`."""
    return _parse(text, COUNT_UNITS, option, "a number such as 14B or 350M")


def binary_size(count: int) -> str:
    """Bytes in units of 1,024."""
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def decimal_size(count: float) -> str:
    """Bytes in units of a thousand, with three significant digits at least."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            value = count / size
            return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"{count:.0f} B"


def _parse(text: str, units: Mapping[str, int], option: str, wanted: str) -> int:
    value = _value(text, units)
    if not value:
        raise InputError(f"--{option} {text}: {wanted} is needed", param=option)
    return value


def _value(text: str, units: Mapping[str, int]) -> int | None:
    found = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e[0-9]+)?) *([a-z]*)", text.strip().lower())
    if found is None or found[2] not in units:
        return None
    return round(float(found[1]) * units[found[2]])
