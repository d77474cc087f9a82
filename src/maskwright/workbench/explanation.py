"""What is known about a text, what may follow it, and why it isn't allowed: as plain data, for
`--json` and for the server.

The grammars that were last compiled are kept: whoever writes a text asks about one many times.

A grammar's rules are folded before it is compiled: one that isn't recursive becomes part of a
terminal, which then has no name of its own. So a terminal is shown by its shortest text.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import Any, Final, NamedTuple

from maskwright.automaton.leaf.keys import Text
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.automaton.rules.text_contexts import TextContexts
from maskwright.errors import LimitError, TooLongError
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.mask import Grammar, Matcher
from maskwright.vocab import Vocabulary
from maskwright.workbench.continuations import in_words, nearest_texts
from maskwright.workbench.place import ReadTerminal, RuleStacks, context_stack
from maskwright.workbench.pointer import entry_pointer, position_of
from maskwright.workbench.reading import TextReading, Verdict, read_text
from maskwright.workbench.reasons import ReasonSearch
from maskwright.workbench.schema.variants import Variants
from maskwright.workbench.tokens import tokens_of

Data = dict[str, Any]

VERDICTS = {Verdict.MATCH: "match", Verdict.MISMATCH: "mismatch", Verdict.INCOMPLETE: "incomplete"}


def shortest_bytes(grammar: Grammar) -> int | None:
    """The bytes of the shortest text of a grammar; None if that is too long to be written out."""
    try:
        return len(grammar.budgets.costs.shortest(grammar.recognizer.start, b""))
    except TooLongError:
        return None


def shape_data(
    grammar: Grammar, findings: list[Data], milliseconds: float, *, written_in_json: bool
) -> Data:
    """A shape that can be used: how many of its keywords are `enforced` and `annotations` (None of
    a pattern or a grammar, which has no keywords), how long it took to read and compile, and what
    was found in it, with its places."""
    report = grammar.report
    return {
        "usable": True,
        "enforced": len(report.enforced) if written_in_json else None,
        "annotations": len(report.annotations) if written_in_json else None,
        "shortest_bytes": shortest_bytes(grammar),
        "milliseconds": round(milliseconds, 3),
        "findings": findings,
    }


def reading_data(reading: TextReading) -> Data:
    """The verdict of a text; for one that doesn't match also where and why. Offsets are bytes,
    lines and columns are counted from 1, columns in characters."""
    found: Data = {"verdict": VERDICTS[reading.verdict], "accepted": reading.accepted}
    if reading.verdict is Verdict.MATCH:
        return found
    position = position_of(reading.text, reading.fault)
    found |= {"offset": reading.fault, "line": position.line, "column": position.column}
    return found | following_data(reading)


def following_data(reading: TextReading) -> Data:
    """What may follow the accepted prefix of a text, and where in the shape it ends. `ranges` has
    the first and the last code point of each range of characters; they are all that are allowed if
    `exact`, and `count` is then how many characters they are."""
    characters, goes_on, place = reading.characters, reading.continuations, reading.place
    return {
        "may_end": reading.may_end,
        "forced": reading.forced.decode(errors="replace"),
        "allowed": in_words(characters, reading.may_end),
        "count": characters.count if characters.is_exact else None,
        "ranges": [list(pair) for pair in characters.ranges],
        "exact": characters.is_exact,
        "continuations": {"forced": goes_on.forced, "options": list(goes_on.options)},
        "place": {
            "waits_for": place.waits_for,
            "instance": place.instance,
            "schemas": list(place.schemas),
            "rules": [list(stack) for stack in place.rules],
        },
    }


MOST_KEPT: Final = 8
"""Grammars that are kept. One that is small takes some hundred kilobytes."""

_KEPT: Final[OrderedDict[tuple[bytes, int], tuple[Vocabulary, Grammar]]] = OrderedDict()


def kept_grammar(compile: Callable[[Vocabulary], Grammar], vocabulary: Vocabulary) -> Grammar:
    """The grammar that `compile` makes, which can be pickled: equal ones make equal grammars.
    Errors aren't kept. To be used from one thread."""
    digest = hashlib.blake2b(pickle.dumps(compile), digest_size=16).digest()
    name = digest, id(vocabulary)
    found = _KEPT.get(name)
    if found is None:  # the vocabulary is kept as well, so that its number stays its own
        found = _KEPT[name] = vocabulary, compile(vocabulary)
        if len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    _KEPT.move_to_end(name)
    return found[1]


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


class ExplainedText(Immutable):
    """What is to be explained.

    `text`: a text so far; or `tokens`, where it isn't None. `shown`: how many of the tokens that
    may follow are listed. `variants`: the shape with its schemas, None if it has none. `why`:
    whether reasons and texts like it are searched for a text that isn't allowed, which takes much
    longer than all the rest. `candidates`: tokens that the answer lists if they may follow.
    """

    text: str
    tokens: tuple[int, ...] | None
    shown: int
    variants: Variants | None = None
    why: bool = True
    candidates: tuple[int, ...] = ()


def explained(
    compile: Callable[[Vocabulary], Grammar], asked: ExplainedText, vocabulary: Vocabulary
) -> Data:
    """The verdict of a text, what may follow its accepted beginning, as characters and as tokens;
    and, if it isn't allowed, where and why, and which texts like it are."""
    grammar = kept_grammar(compile, vocabulary)
    reading = _read(grammar, asked, vocabulary)
    found = reading_data(reading)
    if reading.verdict is not Verdict.MISMATCH:
        found |= following_data(reading)
    terminals = terminals_of(reading.matcher)
    if terminals:
        found["terminals"] = [terminal._asdict() for terminal in terminals]
    allowed = tokens_of(reading.matcher)
    found["tokens"] = allowed.data(asked.shown)
    if asked.candidates:
        may_follow = set(allowed.ids)
        found["tokens"]["candidates"] = [one for one in asked.candidates if one in may_follow]
    if asked.why and reading.verdict is Verdict.MISMATCH:
        add_why(found, reading, grammar, asked.variants, with_nearest=asked.tokens is None)
    return found


def _read(grammar: Grammar, asked: ExplainedText, vocabulary: Vocabulary) -> TextReading:
    if asked.tokens is None:
        return read_text(grammar, asked.text.encode())
    matcher = grammar.matcher()
    taken = 0
    while taken < len(asked.tokens) and matcher.accept(asked.tokens[taken]):
        taken += 1
    accepted = vocabulary.decode(asked.tokens[:taken])
    rest = vocabulary.decode(asked.tokens[taken:])
    if taken < len(asked.tokens) and not rest:  # a control token, which has no text
        rest = b"\x00"
    return TextReading(accepted + rest, len(accepted), matcher)


def add_why(
    found: Data,
    reading: TextReading,
    grammar: Grammar,
    variants: Variants | None,
    *,
    with_nearest: bool = True,
) -> None:
    """Add why a text isn't allowed, each part as soon as it is known: the keywords of its schemas,
    or their settings, because of which; and up to three allowed texts like it."""
    if variants is not None and not reading.may_end:
        text, accepted = reading.text[reading.start :], reading.accepted - reading.start
        search = ReasonSearch(variants, text, accepted, grammar.vocabulary)
        # Of a reason that allows less than the schema says, the note is what it leaves out.
        notes = {entry_pointer(entry): entry.note for entry in grammar.report.narrowed}
        found["reasons"] = [
            {**each._asdict(), "note": notes.get(each.pointer or "", "")}
            for each in search.find(reading.place.schemas or ("",))
        ]
        found["reasons_complete"] = search.is_complete
    if with_nearest:
        fault = len(reading.text[: reading.accepted].decode(errors="ignore"))
        near = nearest_texts(grammar, reading.text.decode(errors="replace"), fault)
        found["nearest"] = [each._asdict() for each in near]
