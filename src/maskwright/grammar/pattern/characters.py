"""Sets of characters as Unicode has them: by their properties, for `\\p{…}`, and by their case.

The names of properties are those that ECMA-262 gives them. The general categories are the standard
library's, in its version of Unicode, so that `\\p{Nd}` is what Python's `\\d` is. Scripts and
binary properties are in `unicode_properties.json`, which also says its version;
`tools/unicode_properties.py` writes it.

That characters differ by case alone has four meanings: ASCII letters alone; ECMA-262's of the flag
`i` alone (equal when upper-cased, one code point at a time, never from outside ASCII into it); that
of its flags `iu` (equal under Unicode's simple case folding); and Python's, which adds that I, i, İ
and ı are one.
"""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges

_LONG_NAMES: Final = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Combining_Mark": "M",
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
    "cntrl": "Cc",
    "Format": "Cf",
    "Surrogate": "Cs",
    "Private_Use": "Co",
    "Unassigned": "Cn",
}


_KEYS: Final = {
    "General_Category": "gc",
    "gc": "gc",
    "Script": "sc",
    "sc": "sc",
    "Script_Extensions": "scx",
    "scx": "scx",
}
_SEQUENCES: Final = frozenset(
    {
        "Basic_Emoji",
        "Emoji_Keycap_Sequence",
        "RGI_Emoji",
        "RGI_Emoji_Flag_Sequence",
        "RGI_Emoji_Modifier_Sequence",
        "RGI_Emoji_Tag_Sequence",
        "RGI_Emoji_ZWJ_Sequence",
    }
)
_NEAR: Final = 0.85
"""Likeness (`difflib`'s ratio) from which on a name is taken for a misspelt one."""


@cache
def property_ranges(name: str) -> Ranges | None:
    """The code points with a property (`Lu`, `gc=Nd`, `Emoji`, `sc=Grek`, …), None if unknown."""
    key, equals, value = name.rpartition("=")
    if not equals:
        found = _binary(name)
        return _category(name) if found is None else found
    match _KEYS.get(key):
        case "gc":
            return _category(value)
        case "sc":
            return _script(value, "scripts")
        case "scx":
            return _script(value, "script_extensions")
        case _:
            return None


def unknown_property(name: str) -> str:
    """Why there is no such property, and which is like it."""
    if name in _SEQUENCES:
        return f"the Unicode property {name!r} is one of strings, not of characters"
    near = get_close_matches(_folded(name), _every_name(), n=1, cutoff=_NEAR)
    hint = f"; did you mean {_every_name()[near[0]]!r}?" if near else ""
    return f"unknown Unicode property {name!r}{hint}"


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


@cache
def _every_name() -> dict[str, str]:
    """Every way to write a property, by its folded name; scripts without a key as well."""
    data = _data()
    scripts = (*data["scripts"], *data["script_aliases"])
    values = {"gc": (*_LONG_NAMES, *_LONG_NAMES.values()), "sc": scripts, "scx": scripts}
    names = {_folded(script): f"Script={script}" for script in scripts}
    for lone in (*values["gc"], *data["binary"], *data["binary_aliases"], *_WITHOUT_A_TABLE):
        names[_folded(lone)] = lone
    for key, kind in _KEYS.items():
        names |= {_folded(f"{key}={value}"): f"{key}={value}" for value in values[kind]}
    return names


def _script(name: str, table: str) -> Ranges | None:
    """The characters of a script; `table` is `scripts`, or `script_extensions` for all it uses."""
    data = _data()
    long = data["script_aliases"].get(name, name)
    text = data[table].get(long, data["scripts"].get(long))
    return None if text is None else _ranges(text)


_WITHOUT_A_TABLE: Final = ("Any", "ASCII", "Assigned")


def _binary(name: str) -> Ranges | None:
    match name:
        case "Any":
            return charset.EVERY
        case "ASCII":
            return ((0, 0x7F),)
        case "Assigned":
            return charset.complement(_categories()["Cn"])
        case _:
            data = _data()
            text = data["binary"].get(data["binary_aliases"].get(name, name))
            return None if text is None else _ranges(text)


@cache
def _data() -> dict[str, Any]:
    """The file of scripts and binary properties; `tools/unicode_properties.py` says its form."""
    path = files("maskwright.grammar.pattern") / "unicode_properties.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _ranges(text: str) -> Ranges:
    """Ranges from base-36 numbers: in turn how many code points are outside and inside."""
    found: list[tuple[int, int]] = []
    point = 0
    runs = iter(text.split())
    for outside, inside in zip(runs, runs, strict=True):
        low = point + int(outside, 36)
        point = low + int(inside, 36)
        found.append((low, point - 1))
    return tuple(found)


def _category(name: str) -> Ranges | None:
    """The characters of a general category, or of a group of them such as `L`."""
    category = _LONG_NAMES.get(name, name)
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
"""Where nothing is assigned except private use: five sixths of all code points, not looked up one
by one."""


def _points() -> Iterator[int]:
    uniform = charset.union(*(tuple(ranges) for _, ranges in _UNIFORM))
    for low, high in charset.complement(uniform):
        yield from range(low, high + 1)


Casing = Literal["ascii", "ecma", "unicode", "python"]

_CASED_UP_TO = 0x1EFFF
"""No code point beyond has a case (tests/grammar/pattern/test_casing.py looks)."""


@lru_cache(maxsize=4096)
def closed(ranges: Ranges, casing: Casing) -> Ranges:
    """`ranges` and every character that differs from one of them in case alone."""
    if casing == "ascii":
        return charset.union(
            ranges, _shifted(ranges, "A", "Z", 32), _shifted(ranges, "a", "z", -32)
        )
    same = _twins(casing)
    if sum(high - low + 1 for low, high in ranges) < len(same):
        points = [p for low, high in ranges for p in range(low, high + 1) if p in same]
    else:
        points = [point for point in same if _holds(ranges, point)]
    added = charset.ranges_of(twin for point in points for twin in same[point])
    return charset.union(ranges, added)


def _shifted(ranges: Ranges, first: str, last: str, by: int) -> Ranges:
    letters = charset.intersection(ranges, ((ord(first), ord(last)),))
    return tuple((low + by, high + by) for low, high in letters)


def _holds(ranges: Ranges, point: int) -> bool:
    at = bisect_left(ranges, point, key=itemgetter(1))
    return at < len(ranges) and ranges[at][0] <= point


@cache
def _twins(casing: Casing) -> dict[int, tuple[int, ...]]:
    """Each cased code point → the others like it."""
    canonical = _CANONICAL[casing]
    classes: dict[str, list[int]] = defaultdict(list)
    for point in range(_CASED_UP_TO + 1):
        character = chr(point)
        if character.lower() != character or character.upper() != character:
            classes[canonical(character)].append(point)
    for key, members in classes.items():
        if len(key) == 1 and ord(key) not in members:
            members.append(ord(key))
    return {
        point: tuple(other for other in members if other != point)
        for members in classes.values()
        for point in members
        if len(members) > 1
    }


def _ecma(character: str) -> str:
    """ECMA-262's Canonicalize without the flag u."""
    upper = character.upper()
    if len(upper) != 1 or (ord(character) >= 128 > ord(upper)):
        return character
    return upper


def _case_folded(character: str) -> str:
    """Simple case folding."""
    folded = character.casefold()
    if len(folded) == 1:
        return folded
    lower = _SAME_WHEN_DECOMPOSED.get(character) or character.lower()
    return lower if len(lower) == 1 else character


def _python(character: str) -> str:
    return "i" if character in "Ii\u0130\u0131" else _case_folded(character)


_SAME_WHEN_DECOMPOSED: Final = {"\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}
_CANONICAL: Final[dict[Casing, Callable[[str], str]]] = {
    "ecma": _ecma,
    "unicode": _case_folded,
    "python": _python,
}
