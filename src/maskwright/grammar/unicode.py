"""Unicode properties for `\\p{…}`: the general categories, from the standard library's tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Final

from maskwright.grammar import charset
from maskwright.grammar.charset import Ranges

_LONG_NAMES: Final = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "punct": "P",
    "Symbol": "S",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Other": "C",
    "Control": "Cc",
    "Format": "Cf",
    "Surrogate": "Cs",
    "Private_Use": "Co",
    "Unassigned": "Cn",
}


@cache
def property_ranges(name: str) -> Ranges | None:
    """The code points with a property (`Lu`, `Letter`, `gc=Nd`, `Any`, …), None if unknown."""
    key, _, value = name.rpartition("=")
    if key not in ("", "gc", "General_Category"):
        return None
    if value == "Any":
        return charset.EVERY
    if value == "ASCII":
        return ((0, 0x7F),)
    category = _LONG_NAMES.get(value, value)
    if category == "LC":
        return charset.union(*(_categories()[c] for c in ("Lu", "Ll", "Lt")))
    known = [ranges for c, ranges in _categories().items() if c.startswith(category)]
    return charset.union(*known) if known and category else None


@cache
def _categories() -> dict[str, Ranges]:
    """General category (two letters) → code points."""
    found: dict[str, list[tuple[int, int]]] = {}
    for category, run in groupby(_points(), key=lambda point: unicodedata.category(chr(point))):
        members = list(run)
        found.setdefault(category, []).append((members[0], members[-1]))
    for category, ranges in _UNIFORM:
        found.setdefault(category, []).extend(ranges)
    return {category: charset.normal(ranges) for category, ranges in found.items()}


_UNIFORM: Final = (
    ("Cn", [(0x40000, 0xDFFFF), (0xEFFFE, 0xEFFFF), (0xFFFFE, 0xFFFFF), (0x10FFFE, 0x10FFFF)]),
    ("Co", [(0xF0000, 0xFFFFD), (0x100000, 0x10FFFD)]),
)
"""Where nothing is assigned but for private use: five sixths of all code points, not looked up one
by one."""


def _points() -> Iterator[int]:
    uniform = charset.union(*(tuple(ranges) for _, ranges in _UNIFORM))
    for low, high in charset.complement(uniform):
        yield from range(low, high + 1)
