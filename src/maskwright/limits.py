"""Limits on counted work: the same input meets the same limit on every machine."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one grammar may cost. Every limit is a count, never a time.

    The defaults pass real schemas with room to spare and stop hostile ones; a `LimitError` names
    the field that was hit.
    """

    schema_depth: int = 128
    """Nesting of arrays and objects in the schema document."""
    schema_nodes: int = 200_000
    """JSON values in the schema document, strings and numbers included."""
    pattern_length: int = 20_000
    """Characters of one regular expression."""
    pattern_terms: int = 50_000
    """Terms of one regular expression after parsing."""
    lookbehind_states: int = 256
    """States of the automaton that follows the lookbehinds, `^` and `\\b` of a pattern."""
    grammar_length: int = 2_000_000
    """Characters of one grammar."""
    alternatives: int = 4_096
    """Branches of one union after `anyOf` has been multiplied out."""
    grammar_rules: int = 20_000
    """Rules of one grammar."""
    grammar_nodes: int = 200_000
    """Places in all rules of one grammar at which reading can stand."""
    items: int = 4_000
    """Ways in which one text can be read so far, and all that may come next."""
    leaf_states: int = 400_000
    """States of the byte automata that one grammar may add."""
    contexts: int = 200_000
    """Structural contexts (object and array positions) that one grammar may add."""
    witness_search: int = 200_000
    """States visited in one search for a shortest string of a regular language."""

    divisor: int = 2_500
    """Remainders that the digits of a number have to be followed through for one `multipleOf`."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"limit {field.name} must be at least 1")


DEFAULT_LIMITS = Limits()
