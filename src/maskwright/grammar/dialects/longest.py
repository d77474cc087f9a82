"""The language of a terminal's pattern with lazy quantifiers.

A terminal is a regular language that doesn't depend on the text around it. Two constructs of
patterns do: a lazy quantifier ends at the first opportunity, and `\\b` or a lookahead at the end of
the pattern depends on the text of the next terminal. The first is obeyed, the second is refused.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import RegexError
from maskwright.grammar.pattern.translate import language
from maskwright.grammar.pattern.tree import (
    Choice,
    Class,
    Concat,
    Pattern,
    Quantified,
    assertions_at,
    inner,
)
from maskwright.grammar.regular.charset import EVERY
from maskwright.grammar.regular.derivative import arcs, is_live
from maskwright.grammar.regular.terms import (
    ANYTHING,
    Regular,
    alt,
    chars,
    complement,
    concat,
    intersection,
    length,
    words,
)
from maskwright.limits import spend

_OUTSIDE: Final = (
    "this pattern looks at the text {} it ({}), which is another terminal's; "
    "express it by rules, or by & and ~ between terminals"
)


def ends_where_it_can(tree: Pattern, pattern: str) -> Regular:
    """Return the language of a terminal's pattern.

    From a lazy quantifier on, the match ends at the first possible place: `/".*?"/` has no quote
    inside. No unbounded greedy quantifier may follow a lazy one, because where it ends would depend
    on the text of the next terminal.

    Raises `RegexError`.
    """
    if any(assertions_at("end", tree)):
        reason = _OUTSIDE.format("after", "\\b, $ or a lookahead")
        raise RegexError(reason, pattern=pattern, position=0)
    if any(assertions_at("start", tree)):
        reason = _OUTSIDE.format("before", "\\b, ^ or a lookbehind")
        raise RegexError(reason, pattern=pattern, position=0)
    return _language(tree, pattern) if _has_lazy(tree) else language(tree)


def shortest_first(texts: Regular) -> Regular:
    """Return the texts of `texts` that have no proper prefix in `texts`."""
    return intersection(texts, complement(concat(texts, chars(EVERY), ANYTHING)))


def without_stop(texts: Regular, stop: Regular) -> Regular:
    """Return the texts of `texts` before which no other one with `stop` after it was complete. An
    empty `stop` stands for the end of the output, and leaves all."""
    if stop.nullable:
        return texts
    return intersection(texts, complement(concat(texts, stop, ANYTHING)))


def before_end(texts: Regular, end: str) -> Regular:
    """Return the texts of `texts` after which `end` makes them texts of
    `shortest_first(texts + end)`. So `end` doesn't occur earlier, also not overlapping itself."""
    overlaps = [size for size in range(1, len(end)) if end.startswith(end[size:])]
    too_early = [concat(texts, words([end[:size]])) for size in overlaps]
    return intersection(without_stop(texts, words([end])), *map(complement, too_early))


def ends_within(texts: Regular, tail: int) -> bool:
    """Whether after each character of each text at most `tail` further ones complete a text."""
    waiting = [target for _, _, target in arcs(texts)]
    seen = set(waiting)
    while waiting:
        here = waiting.pop()
        spend()
        if not here.nullable and not is_live(intersection(here, length(0, tail))):
            return False
        following = {target for _, _, target in arcs(here)} - seen
        seen |= following
        waiting += following
    return True


def _language(tree: Pattern, pattern: str) -> Regular:
    match tree:
        case Choice(options=options):
            return alt(*(_language(option, pattern) for option in options))
        case Concat(parts=parts):
            first = next((n for n, part in enumerate(parts) if _has_lazy(part)), len(parts))
            rest = Concat(parts[first:])
        case _:
            first, parts, rest = 0, (), tree
    before = language(Concat(parts[:first]))
    if not _has_lazy(rest):
        return concat(before, language(rest))
    match rest:
        case Concat(parts=(Concat() | Choice() as group,)):
            return concat(before, _language(group, pattern))
        case _:
            pass
    if all(isinstance(part, Class) for part in parts[:first]) and not _greedy_after_lazy(rest):
        return shortest_first(language(tree))
    if any(assertions_at("start", rest)) or _greedy_after_lazy(rest):
        raise RegexError(
            "an unbounded quantifier after a lazy one, or around it, is not supported; "
            'exclude what ends the text instead: /"[^"]*"/ for /".*?"/',
            pattern=pattern,
            position=0,
        )
    return concat(before, shortest_first(language(rest)))


def _has_lazy(node: Pattern) -> bool:
    if isinstance(node, Quantified) and node.lazy and node.least != node.most:
        return True
    return any(map(_has_lazy, inner(node)))


def _has_greedy(node: Pattern) -> bool:
    if isinstance(node, Quantified) and not node.lazy and node.most is None:
        return True
    return any(map(_has_greedy, inner(node)))


def _greedy_after_lazy(rest: Pattern) -> bool:
    """Whether a greedy unbounded quantifier follows the lazy one with which `rest` begins, or
    contains it."""
    parts = rest.parts if isinstance(rest, Concat) else (rest,)
    around = isinstance(parts[0], Quantified) and not (parts[0].lazy) and parts[0].most is None
    return around or any(map(_has_greedy, parts[1:]))
