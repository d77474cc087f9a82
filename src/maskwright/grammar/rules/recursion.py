"""Turns rules that call themselves at an end of their alternatives into repetitions.

`x: x "," y | y` generates the texts of `y ("," y)*`. A repetition is read in a loop, and may be
regular, whereas recursion needs an item for every call that has not returned. In an ambiguous rule
such as `x: x x | y`, this would be an item for every way to group what has been read.
"""

from __future__ import annotations

from collections.abc import Iterator

from maskwright.grammar.rules.tree import Choice, Concat, Expression, Ref, Repeat


def repeated(name: str, body: Expression) -> Expression:
    """Rewrite `x: b | x a | c x | x o x` to `x: (c* b a*) (o (c* b a*))*`, with any number of
    alternatives of each kind."""
    itself = Ref(name)
    plain: list[Expression] = []
    before: list[Expression] = []
    behind: list[Expression] = []
    between: list[Expression] = []
    for option in _options(body):
        parts = option.parts if isinstance(option, Concat) else (option,)
        if parts == (itself,):
            continue
        if len(parts) > 1 and parts[0] == itself == parts[-1]:
            between.append(Concat(parts[1:-1]))
        elif parts[:1] == (itself,):
            behind.append(Concat(parts[1:]))
        elif parts[-1:] == (itself,):
            before.append(Concat(parts[:-1]))
        else:
            plain.append(option)
    if not (before or behind or between):
        return body
    one: Expression = Choice(tuple(plain))
    if before or behind:
        one = Concat((Repeat(Choice(tuple(before))), one, Repeat(Choice(tuple(behind)))))
    if not between:
        return one
    return Concat((one, Repeat(Concat((Choice(tuple(between)), one)))))


def is_right_recursive(name: str, body: Expression) -> bool:
    """Whether a rule calls itself at the end of an alternative, and at the start of none."""
    ends = [option.parts for option in _options(body) if isinstance(option, Concat)]
    return any(p[-1:] == (Ref(name),) for p in ends) and all(p[:1] != (Ref(name),) for p in ends)


def _options(body: Expression) -> Iterator[Expression]:
    if isinstance(body, Choice):
        for option in body.options:
            yield from _options(option)
    else:
        yield body
