"""The texts around the members of objects and the items of arrays, by the style of white space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from maskwright.automaton.value.whitespace import MOST_SPACE, WHITESPACE
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.terms import char, chars, concat, repeat
from maskwright.grammar.rules.tree import Concat, Expression, Ref, Terminal
from maskwright.workbench.choices import LayoutName

SPACE: Final = "space"
"""The name of the rule for white space in the style "flexible"."""


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """How the parts of arrays and objects are joined."""

    name: LayoutName

    def rules(self) -> dict[str, Expression]:
        """The rules that the other texts refer to."""
        if self.name != "flexible":
            return {}
        return {SPACE: Terminal(repeat(chars(charset.of(" \t\n\r")), 0, MOST_SPACE))}

    def opening(self, bracket: str) -> list[Expression]:
        return [text(bracket), *self._space()]

    def closing(self, bracket: str) -> list[Expression]:
        return [*self._space(), text(bracket)]

    def comma(self) -> list[Expression]:
        after = WHITESPACE[self.name].after_comma.decode()
        return [*self._space(), text("," + after), *self._space()]

    def colon(self) -> list[Expression]:
        after = WHITESPACE[self.name].after_colon.decode()
        return [*self._space(), text(":" + after), *self._space()]

    def empty(self, brackets: str) -> Expression:
        """An empty array or object."""
        return joined([*self.opening(brackets[0]), text(brackets[1])])

    def named(self, name: Expression, value: Expression) -> Expression:
        """A member of an object; `name` has its quotes."""
        return joined([name, *self.colon(), value])

    def _space(self) -> list[Expression]:
        return [Ref(SPACE)] if self.name == "flexible" else []


def text(characters: str) -> Terminal:
    """The terminal that is exactly this text."""
    return Terminal(concat(*map(char, characters)))


def joined(parts: list[Expression]) -> Expression:
    """Parts one after the other, with texts that follow each other joined to one."""
    merged: list[Expression] = []
    for part in parts:
        inner = part.parts if isinstance(part, Concat) else (part,)
        for each in inner:
            before = merged[-1] if merged else None
            if isinstance(each, Terminal) and isinstance(before, Terminal):
                merged[-1] = Terminal(concat(before.language, each.language))
            else:
                merged.append(each)
    return merged[0] if len(merged) == 1 else Concat(tuple(merged))
