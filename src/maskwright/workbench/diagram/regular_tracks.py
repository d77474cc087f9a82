"""The railroad diagram of a regular language."""

from __future__ import annotations

from typing import Final

from maskwright.grammar.dialects.spelling import pattern, string
from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.terms import Regular
from maskwright.workbench.diagram.svg import visible
from maskwright.workbench.diagram.tracks import SKIP, Box, Track, chain, fork, repeated

FEW: Final = 24
"""Options of a choice up to which each is drawn."""
DEEPEST: Final = 12
"""Levels of choices and repetitions that are drawn; what is deeper is one box with its pattern."""


def regular_track(term: Regular, depth: int = DEEPEST) -> Track:
    """The tracks of a regular language. What has no tracks, such as an intersection, is a box in
    words."""
    match term:
        case r.Epsilon():
            return SKIP
        case r.Concat():
            return _concatenation(term, depth)
        case r.Chars(ranges=ranges):
            return _one_of(ranges)
        case r.Alt(options=options) if depth > 0 and len(options) <= FEW:
            return fork([regular_track(option, depth - 1) for option in options])
        case r.Words(table=table, low=low, high=high, depth=start):
            found = [w[start:] for w in table.strings[low : min(high, low + FEW)]]
            texts: list[Track] = [Box(_spelled(w), "text") if w else SKIP for w in found]
            if high - low > FEW:
                texts.append(Box(f"… {high - low - FEW:,} more", "note"))
            return fork(texts)
        case r.Repeat(body=body, least=least, most=most) if depth > 0:
            return repeated(regular_track(body, depth - 1), least, most)
        case r.State(equal=language) if language is not None:
            return regular_track(language, depth)
        case _:
            return Box(described(term), "set")


def described(term: Regular) -> str:
    """A regular language in words and patterns."""
    written = pattern(term)
    if written is not None:
        return visible(written)
    match term:
        case r.Empty():
            return "nothing"
        case r.Complement(body=body):
            return f"anything but {described(body)}"
        case r.Intersection(parts=parts):
            return " and ".join(described(part) for part in parts)
        case r.LengthBounded(core=core, least=least, most=most):
            upper = "or more" if most is None else f"to {most:,}"
            return f"{least:,} {upper} characters of {described(core)}"
        case r.Concat(head=head, tail=tail):
            return f"{described(head)} then {described(tail)}"
        case r.Alt(options=options):
            return " or ".join(described(option) for option in options)
        case _:
            return "texts of an automaton"


def _concatenation(term: Regular, depth: int) -> Track:
    """The parts in order, with consecutive characters joined to one text."""
    parts: list[Track] = []
    text = ""
    rest: Regular | None = term
    while rest is not None:
        head, rest = (rest.head, rest.tail) if isinstance(rest, r.Concat) else (rest, None)
        if isinstance(head, r.Chars) and _is_one(head.ranges):
            text += chr(head.ranges[0][0])
            continue
        if text:
            parts.append(Box(_spelled(text), "text"))
            text = ""
        parts.append(regular_track(head, depth))
    if text:
        parts.append(Box(_spelled(text), "text"))
    return chain(parts)


def _one_of(ranges: Ranges) -> Track:
    if _is_one(ranges):
        return Box(_spelled(chr(ranges[0][0])), "text")
    written = pattern(r.chars(ranges)) or ""
    return Box(visible(written[1:-1].replace("\\/", "/")), "set")


def _is_one(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _spelled(text: str) -> str:
    return visible(string(text))
