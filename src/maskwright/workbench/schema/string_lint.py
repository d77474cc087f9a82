"""What is found in the strings of a schema: patterns that say less than they seem to, and names and
values that models rarely write as they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from maskwright.errors import InputError
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.pattern.tree import (
    Anchor,
    Choice,
    Class,
    Concat,
    Pattern,
    Quantified,
)
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.findings.finding import Finding
from maskwright.workbench.findings.languages import is_endless
from maskwright.workbench.findings.spelling import odd_value
from maskwright.workbench.pointer import pointer_of

MOST_VALUES: Final = 1_000
"""Values of one `enum` that are looked at."""


def is_endless_pattern(pattern: Any) -> bool:
    """Whether a pattern of a schema leaves open how long a string is. False where this can't be
    decided within the limits of a grammar."""
    try:
        with Work(DEFAULT_LIMITS):
            return is_endless(search(pattern))
    except (InputError, TypeError):
        return False


def open_pattern(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """A pattern that isn't bound to the beginning or the end of the string."""
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return
    try:
        tree = parse_pattern(pattern, DEFAULT_LIMITS, None)
    except InputError:
        return
    at = pointer + pointer_of("pattern")
    begins, ends = _is_bound(tree, 0), _is_bound(tree, -1)
    if not begins and not ends:
        message = "any text may stand before and after what this pattern matches; ^ and $ bind it"
        yield Finding(at, "warning", "open-pattern", message)
    elif not begins or not ends:
        where, anchor = ("before", "^") if ends else ("after", "$")
        message = f"any text may stand {where} what this pattern matches; {anchor} binds it"
        yield Finding(at, "note", "open-pattern", message)


def _is_bound(tree: Pattern, at: int) -> bool:
    """Whether a pattern says what its string begins (`at` 0) or ends (-1) with. Any text that is
    written out, as by `.*`, was meant."""
    match tree:
        case Concat(parts=parts):
            return bool(parts) and _is_bound(parts[at], at)
        case Choice(options=options):
            return all(_is_bound(option, at) for option in options)
        case Anchor(kind=kind):
            return kind == ("start", "end")[at]
        case Quantified(body=Class(), least=0, most=None):
            return True
        case Quantified(body=body):
            return _is_bound(body, at)
        case Class():
            return False
        case _:
            return True  # a look to the side


def token_traps(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Names and values that models rarely write as they stand, and values that are nearly equal."""
    properties = schema.get("properties")
    for name in properties if isinstance(properties, dict) else ():
        odd = odd_value(name)
        if odd is not None:
            yield _trap(pointer + pointer_of("properties", name), f"the name {name!r} {odd}")
    if isinstance(schema.get("const"), str):
        odd = odd_value(schema["const"])
        if odd is not None:
            yield _trap(pointer + pointer_of("const"), f"{schema['const']!r} {odd}")
    values = schema.get("enum")
    if not isinstance(values, list) or len(values) > MOST_VALUES:
        return
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for index, value in enumerate(values):
        if not isinstance(value, str):
            continue
        odd = odd_value(value)
        if odd is not None:
            yield _trap(pointer + pointer_of("enum", index), f"{value!r} {odd}")
        like = alike["".join(value.casefold().split())]
        if value in like:
            continue  # which is no trap
        like.append(value)
        if len(like) == 2:
            told = f"{value!r} differs from {like[0]!r} in case or white space only"
            yield _trap(pointer + pointer_of("enum", index), f"{told}: a model takes either")


def _trap(pointer: str, message: str) -> Finding:
    return Finding(pointer, "warning", "token-trap", message)
