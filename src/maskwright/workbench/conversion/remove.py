"""Removes rules from the text of a grammar."""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import read_document, read_grammar


def without_rules(text: str, dialect: Dialect, names: Iterable[str]) -> tuple[str, list[str]]:
    """The grammar without the definitions of these names, and the names that are gone.

    A definition ends before the next line that begins a statement or comment. One whose removal
    would change the rest stays.
    """
    removed: list[str] = []
    left = [*names]
    for name in left:
        shorter = _without(text, dialect, name)
        if shorter is not None:
            text = shorter
            removed.append(name)
            # What this one alone referred to can go now as well.
            left += [each for each in left[: left.index(name)] if each not in removed]
    return text, removed


def _without(text: str, dialect: Dialect, name: str) -> str | None:
    document, _ = read_document(text, dialect)
    definition = document.definitions.get(name)
    if definition is None:
        return None
    start = text.rfind("\n", 0, definition.at) + 1
    lines = text[start:].splitlines(keepends=True)
    count = 1
    while count < len(lines) and _continues(lines[count]):
        count += 1
    shorter = text[:start] + "".join(lines[count:])
    return shorter if _is_equal(text, shorter, dialect) else None


def _continues(line: str) -> bool:
    """Whether a line continues the definition above it."""
    return (line[:1] in " \t" and bool(line.strip())) or line.startswith("|")


def _is_equal(text: str, shorter: str, dialect: Dialect) -> bool:
    """Whether a grammar still has the rules that it had. What can't be read any more hasn't."""
    try:
        return read_grammar(text, dialect).rules == read_grammar(shorter, dialect).rules
    except InputError:
        return False
