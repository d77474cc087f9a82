"""What is likely to be a mistake in a grammar or a pattern, or more than was meant.

Whether a grammar is ambiguous, so that a text can be read in two ways, can't be decided in general
(Cantor 1962; Floyd 1962). What is said here is certain: two options of a rule that share a text, a
rule that begins and ends with itself, a repetition of what may be empty, and two repetitions in a
row of what shares a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from typing import Final

from maskwright.errors import LimitError
from maskwright.grammar.dialects.read import ReadGrammar
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.enumerate import few
from maskwright.grammar.regular.terms import EPSILON, Regular
from maskwright.grammar.rules.tree import (
    Atom,
    Capture,
    Choice,
    Concat,
    Expression,
    Ref,
    Repeat,
    Rules,
    Terminal,
    all_parts,
    has_such_text,
    may_be_empty,
    rules_with_such_text,
)
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.findings.finding import Finding, is_endless, odd_spelling, shared_text

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
            if part.most != 1 and has_such_text(part.body, may_be_empty, frozenset()):
                yield "it repeats what may be empty"
        elif isinstance(part, Concat):
            yield from _in_a_row(part)


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


LISTED: Final = 32
"""Texts of a terminal up to which the spelling of each is looked at."""
NAMED: Final = 5
"""Rules that one note names."""


def lint_grammar(read: ReadGrammar) -> list[Finding]:
    """What is found in a grammar. The pointer of a finding is the name of its rule."""
    found = [
        Finding(name, "warning", "unused-rule", f"the rule {name!r} is not used")
        for name in read.unused
    ]
    texts = read.lowered.without_ignored
    try:
        with Work(DEFAULT_LIMITS):
            live = rules_with_such_text(read.rules, _has_texts)
            for name, body in read.rules.rules.items():
                found += _of_rule(name, body, live, texts)
            found += _endless_rules(read, live)
            found += _ends(read.rules)
    except LimitError:
        pass  # what was found until then is returned
    return found


def lint_pattern(pattern: str) -> list[Finding]:
    """What is found in a pattern that a whole text has to match."""
    try:
        with Work(DEFAULT_LIMITS):
            if not is_endless(full_match(pattern)):
                return []
    except LimitError:
        return []
    message = "a model may go on without end in this pattern; a count in place of * or + bounds it"
    return [Finding("", "note", "unbounded-pattern", message)]


def _of_rule(
    name: str, body: Expression, live: set[str], texts: Mapping[Regular, Regular]
) -> Iterator[Finding]:
    if name not in live:
        yield Finding(name, "warning", "unsatisfiable", f"no text matches the rule {name!r}")
        return
    for part in all_parts(body):
        for number, option in enumerate(part.options if isinstance(part, Choice) else (), 1):
            if not has_such_text(option, _has_texts, live):
                message = f"option {number} of {name!r} is never taken: no text matches it"
                yield Finding(name, "warning", "unsatisfiable", message)
    reason = two_readings(name, body)
    if reason is not None:
        message = f"a text of {name!r} can be read in two ways: {reason}"
        yield Finding(name, "note", "ambiguous", message)
    yield from _odd_terminals(name, body, texts)


def _has_texts(atom: Atom) -> bool:
    return not isinstance(atom, Terminal) or is_live(atom.language)


# Texts without end, and odd ones


def _endless_rules(read: ReadGrammar, live: set[str]) -> Iterator[Finding]:
    """The rules in which something is repeated without a bound, in one note: there are many."""
    texts = read.lowered.without_ignored
    names = [
        name
        for name, body in read.rules.rules.items()
        if name in live and any(_is_endless(part, texts) for part in all_parts(body))
    ]
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        where = f"rule{'s' * (len(names) > 1)} {', '.join(map(repr, names[:NAMED]))}{more}"
        message = f"a model may go on without end in the {where}; "
        message += "a count in place of * or + bounds it"
        yield Finding(names[0], "note", "unbounded-rule", message)


def _is_endless(part: Expression, texts: Mapping[Regular, Regular]) -> bool:
    if isinstance(part, Terminal):
        return is_endless(texts.get(part.language, part.language))
    return isinstance(part, Repeat) and part.most is None


def _odd_terminals(
    name: str, body: Expression, texts: Mapping[Regular, Regular]
) -> Iterator[Finding]:
    for part in all_parts(body):
        if not isinstance(part, Terminal):
            continue
        for text in few(texts.get(part.language, part.language), LISTED) or ():
            odd = odd_spelling(text)
            if odd is not None:
                message = f"{text!r} {odd}: models rarely write it so"
                yield Finding(name, "warning", "token-trap", message)


def _ends(rules: Rules) -> Iterator[Finding]:
    """A whole text that has to begin or end with white space, as models rarely begin or end."""
    for place, at in (("begin", 0), ("end", -1)):
        here: Expression | None = rules.rules[rules.start]
        while isinstance(here, Concat | Capture):
            here = here.body if isinstance(here, Capture) else here.parts[at]
        texts = few(here.language, LISTED) if isinstance(here, Terminal) else None
        if texts and all(text and text[at].isspace() for text in texts):
            message = f"every text has to {place} with white space, which models rarely write there"
            yield Finding(rules.start, "warning", "token-trap", message)
