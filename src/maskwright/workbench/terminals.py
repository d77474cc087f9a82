"""The terminals of a grammar or pattern that are being read, and what remains of them.

A grammar's rules are folded before it is compiled: one that isn't recursive becomes part of a
terminal, which then has no name of its own. So a terminal is shown by its shortest text.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

from maskwright.automaton.leaf.keys import Text
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.automaton.rules.text_contexts import TextContexts
from maskwright.errors import LimitError
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.mask import Matcher
from maskwright.vocab import Vocabulary
from maskwright.workbench.place import ReadTerminal, RuleStacks, context_stack

MOST_TERMINALS: Final = 16
MOST_CHARACTERS: Final = 200


class ShownTerminal(NamedTuple):
    """A terminal by its shortest text, and the shortest of the texts that complete it; both are
    None for a JSON value, and where they weren't found. `rules`: see `ReadTerminal`."""

    rules: tuple[str, ...]
    kind: str
    text: str | None
    rest: str | None


def terminals_of(matcher: Matcher) -> list[ShownTerminal]:
    """The terminals that the text of a matcher is in, or that come next; none under a schema."""
    recognizer = matcher.recognizer
    here = matcher.position.configuration
    with recognizer:
        contexts = recognizer.machine.contexts
        key = recognizer.tables.leaves.keys[here.leaf]
        found: dict[ReadTerminal, None] = {}
        if isinstance(contexts, RuleContexts):
            stacks = RuleStacks(contexts, [*context_stack(recognizer, here)])
            found = dict.fromkeys(islice(stacks.terminals(key), MOST_TERMINALS))
        elif isinstance(contexts, TextContexts) and isinstance(key, Text):
            found = {ReadTerminal((), key.term, key.term): None}
    return [_shown(each, recognizer.vocabulary) for each in found]


def _shown(terminal: ReadTerminal, vocabulary: Vocabulary) -> ShownTerminal:
    match terminal.symbol:
        case JsonValue():
            return ShownTerminal(terminal.rules, "JSON value", None, None)
        case SpecialToken(ids=ids):
            names = {token: name for name, token in vocabulary.special_tokens.items()}
            name = names.get(ids[0][0]) if ids else None
            return ShownTerminal(terminal.rules, "control token", name, name)
        case Regular() as language:
            text = _shortest(language) if terminal.rules else None
            return ShownTerminal(terminal.rules, "text", text, _shortest(terminal.rest))


def _shortest(language: Regular | None) -> str | None:
    if language is None:
        return None
    try:
        with Work(DEFAULT_LIMITS):
            found = shortest(language)
    except LimitError:
        return None
    return None if found is None else found[:MOST_CHARACTERS]
