"""Something found in a shape, with its place and its weight; where rules of grammars are; and what
the rules of schemas and of grammars both ask of texts: has a language one without end, do two
languages share one, do models rarely write it as it stands because no usual token spells it.

A mask allows exactly its bytes, so a model that would rather write `café` in its usual form, or a
plain space, is turned towards tokens of single bytes. That is seldom what an author wants.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal, NamedTuple

from maskwright.grammar.regular.derivative import arcs, first_bytes, is_live
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import EPSILON, Regular, intersection
from maskwright.grammar.schema.tree import Report
from maskwright.workbench.pointer import entry_pointer

Severity = Literal["error", "warning", "note"]

RULES: Final = (
    *("unknown-keyword", "demands-nothing", "misplaced-schema", "unknown-format", "nullable"),
    *("null-keyword", "repeated-name", "repeated-value", "hidden-keyword"),
    *("keyword-of-later-draft", "posix-class"),
    *("narrowed", "no-effect", "open-pattern", "unbounded-string", "unbounded-array"),
    *("unbounded-object", "unbounded-rule", "unbounded-pattern", "required-unlisted"),
    *("reasons-last", "token-trap", "unused-definition", "unused-rule", "unsatisfiable"),
    *("impossible-tool", "ambiguous", "openai-strict-root", "openai-strict-additional"),
    *("openai-strict-required", "openai-strict-unsupported", "openai-strict-depth"),
    "openai-strict-size",
)
"""The names of all rules, as the documentation of `maskwright check` has them."""


class Finding(NamedTuple):
    """Something found in a shape; `rule` is a stable name for what it is. `pointer`: in a schema, a
    JSON Pointer; in a grammar, the name of the rule."""

    pointer: str
    severity: Severity
    rule: str
    message: str


def reported(report: Report) -> list[Finding]:
    """What compiling has found, which a server tells in its header of warnings."""
    return [
        Finding(entry_pointer(each), "warning", each.rule, each.note)
        for each in report.annotations
        if each.rule
    ]


def rule_start(text: str, name: str) -> int | None:
    """The character at which the definition of a rule or terminal begins; None if the text doesn't
    show one, as for a rule that is imported."""
    pattern = rf"^[ \t]*[?!]?(<?{re.escape(name)}>?)(?![\w-])[^\n:=]*(?:::?=|:|=)"
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else found.start(1)


MOST_STATES: Final = 300
"""States that are visited in search of a loop. A language whose automaton has more before its first
loop is taken for one that ends."""


def is_endless(language: Regular) -> bool:
    """Whether there is no longest text: a state of the automaton leads back to itself."""
    done: set[Regular] = set()
    path: dict[Regular, list[Regular]] = {language: _targets(language)}
    while path:
        state, targets = next(reversed(path.items()))
        if not targets:
            del path[state]
            done.add(state)
            continue
        target = targets.pop()
        if target in path:
            return True
        if target not in done:
            if len(path) + len(done) >= MOST_STATES:
                return False
            path[target] = _targets(target)
    return False


def shared_text(first: Regular, second: Regular) -> str | None:
    """A short text that is in both languages; None if there is none but the empty one."""
    if not first_bytes(first) & first_bytes(second):
        return None
    if first.nullable and second.nullable:
        return None  # the shortest is empty, which says little
    both = first if first is second else intersection(first, second)
    return shortest(both) if both is not EPSILON and is_live(both) else None


def _targets(state: Regular) -> list[Regular]:
    return [*dict.fromkeys(target for _, _, target in arcs(state))]


_UNSEEN: Final = frozenset({"Cf", "Zl", "Zp"})
"""General categories of characters without a shape of their own."""


def odd_spelling(text: str) -> str | None:
    """What is odd about how a text is spelled: None if nothing is."""
    for character in text:
        category = unicodedata.category(character)
        if category in _UNSEEN or (category == "Zs" and character != " "):
            name = unicodedata.name(character, "not named").lower()
            return f"has the character U+{ord(character):04X} ({name})"
    if not unicodedata.is_normalized("NFC", text):
        return "has letters and accents apart, which models write as one character (NFC)"
    return None


def odd_value(text: str) -> str | None:
    """What is odd about a name or a value in quotes."""
    if text != text.strip():
        return "begins or ends with white space, where most tokens begin or end a word"
    return odd_spelling(text)
