"""The two syntaxes of regular expressions that are read, and what their flags change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NoReturn

from msgspec.structs import replace

from maskwright.grammar.pattern.characters import Casing
from maskwright.immutable import Acyclic

Syntax = Literal["ecma", "python"]


class Flags(Acyclic):
    """How a part of a pattern is read.

    `algebra` adds the operators `&` and `~`, which both syntaxes otherwise read as themselves.
    """

    syntax: Syntax = "ecma"
    algebra: bool = False
    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    verbose: bool = False
    ascii: bool = False
    unicode: bool = False

    @property
    def casing(self) -> Casing | None:
        """How characters are compared; None if each is itself alone."""
        if not self.ignore_case:
            return None
        if self.ascii:
            return "ascii"
        if self.syntax == "python":
            return "python"
        return "unicode" if self.unicode else "ecma"

    def having(self, letters: str, fail: Fail, *, without: str = "", scoped: bool = False) -> Flags:
        """These flags with the ones in `letters` set and in `without` cleared; `fail` refuses."""
        known = _NAMES[self.syntax]
        changed: dict[str, bool] = {}
        for letter in letters + without:
            if letter in _NO_EFFECT.get(self.syntax, {}):
                fail(f"the flag {letter} {_NO_EFFECT[self.syntax][letter]}")
            if letter not in known or (scoped and self.syntax == "ecma" and letter == "u"):
                fail(f"there is no flag {letter!r} here; there are {', '.join(known)}")
            if (letters + without).count(letter) > 1:
                fail(f"the flag {letter} is given twice")
            changed[known[letter]] = letter in letters
        if self.syntax == "python" and ("a" in letters and "u" in letters):
            fail("the flags a and u exclude each other")
        if self.syntax == "python" and changed.get("unicode"):
            changed["ascii"] = False
        if self.syntax == "python" and changed.get("ascii"):
            changed["unicode"] = False
        return replace(self, **changed)


Fail = Callable[[str], NoReturn]

_NAMES: Final[dict[Syntax, dict[str, str]]] = {
    "ecma": {"i": "ignore_case", "m": "multiline", "s": "dot_all", "u": "unicode"},
    "python": {
        "a": "ascii",
        "i": "ignore_case",
        "m": "multiline",
        "s": "dot_all",
        "u": "unicode",
        "x": "verbose",
    },
}
_USE: Final = "says how matches are used, not which texts match; leave it out"
_NO_EFFECT: Final[dict[Syntax, dict[str, str]]] = {
    "ecma": {
        "g": _USE,
        "d": _USE,
        "y": _USE,
        "v": "changes the syntax of classes in a way that is not supported; use u, or the algebra",
    },
    "python": {"L": "depends on the locale and is not supported; use a or u"},
}
