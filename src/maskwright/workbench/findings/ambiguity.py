"""Rules by which a text can be read in two ways.

Whether a grammar is ambiguous can't be decided in general (Cantor 1962; Floyd 1962). What is
told here is certain: two options of a rule that share a text, a rule that begins and ends with
itself, a repetition of what may be empty, and two repetitions in a row of what shares a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Final

from maskwright.grammar.regular.terms import EPSILON
from maskwright.grammar.rules.tree import (
    Capture,
    Choice,
    Concat,
    Expression,
    Ref,
    Repeat,
    Terminal,
    all_parts,
)
from maskwright.workbench.findings.languages import shared_text

MOST_PAIRS: Final = 1_000
"""Pairs of options of one rule that are compared."""


def two_readings(name: str, body: Expression) -> str | None:
    """Why a text of the rule `name` can be read in two ways; None if it isn't seen."""
    return next(_reasons(name, body), None)


def _reasons(name: str, body: Expression) -> Iterator[str]:
    options = map(_sequence, body.options if isinstance(body, Choice) else (body,))
    if any(len(parts) > 1 and parts[0] == parts[-1] == Ref(name) for parts in options):
        yield "it begins and ends with itself, so that three of it can be grouped in two ways"
    pairs = 0
    for part in all_parts(body):
        if isinstance(part, Choice):
            for (number, one), (other_number, other) in combinations(enumerate(part.options, 1), 2):
                pairs += 1
                text = _shared(one, other) if pairs <= MOST_PAIRS else None
                if text is not None:
                    yield f"options {number} and {other_number} both read {text!r}"
        elif isinstance(part, Repeat):
            if part.most != 1 and _may_be_empty(part.body):
                yield "it repeats what may be empty"
        elif isinstance(part, Concat):
            yield from _in_a_row(part)


def _may_be_empty(expression: Expression) -> bool:
    """Whether it is seen that an expression has the empty text."""
    match expression:
        case Terminal(language=language):
            return language.nullable
        case Repeat(body=body, least=least):
            return least == 0 or _may_be_empty(body)
        case Concat(parts=parts):
            return all(map(_may_be_empty, parts))
        case Choice(options=options):
            return any(map(_may_be_empty, options))
        case _:
            return False


def _in_a_row(sequence: Concat) -> Iterator[str]:
    for one, other in pairwise(sequence.parts):
        if isinstance(one, Repeat) and isinstance(other, Repeat) and one.most is other.most is None:
            text = _shared(one.body, other.body)
            if text is not None:
                yield f"two repetitions in a row both read {text!r}"


def _shared(one: Expression, other: Expression) -> str | None:
    """A text that two expressions have in common; None if it isn't seen that they have one."""
    first, second = _sequence(one), _sequence(other)
    if len(first) != len(second) or not first:
        return None
    texts = [_shared_part(*pair) for pair in zip(first, second, strict=True)]
    return None if None in texts else "".join(filter(None, texts))


def _shared_part(one: Expression, other: Expression) -> str | None:
    if isinstance(one, Terminal) and isinstance(other, Terminal):
        return shared_text(one.language, other.language)
    if isinstance(one, Repeat) and isinstance(other, Repeat) and (one.least, other.least) == (1, 1):
        return _shared(one.body, other.body)
    if isinstance(one, Repeat) and one.least == 1 and isinstance(other, Terminal):
        return _shared(one.body, other)
    if isinstance(other, Repeat) and other.least == 1 and isinstance(one, Terminal):
        return _shared(one, other.body)
    return f"<{one.name}>" if isinstance(one, Ref) and one == other else None


def _sequence(expression: Expression) -> list[Expression]:
    """The parts of an expression that stand one after another, without captures and empty ones."""
    match expression:
        case Concat(parts=parts):
            return [each for part in parts for each in _sequence(part)]
        case Capture(body=body):
            return _sequence(body)
        case Terminal(language=language) if language is EPSILON:
            return []
        case _:
            return [expression]
