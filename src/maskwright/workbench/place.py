"""Where a text stands: in which value of which part of a schema, or in which rules of a grammar."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from maskwright.automaton.leaf.keys import Key, Text
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.step import NO_NODE
from maskwright.automaton.rules.contexts import ItemSetContext, ReturnFrame, RuleContexts
from maskwright.automaton.rules.follow import successors
from maskwright.automaton.rules.item_sets import BELOW, OUTERMOST, RulePosition
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import RULE_END
from maskwright.automaton.rules.text_contexts import TextContexts
from maskwright.automaton.value.level import Level, LevelPhase
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.grammar.shape.shape import Conjunction
from maskwright.immutable import Immutable
from maskwright.mask import Matcher
from maskwright.mask.recognizer import Recognizer
from maskwright.workbench.pointer import pointer_at

MOST_STACKS: Final = 4
"""Rule stacks that are listed of a text that can be read in several ways."""
DEEPEST: Final = 64
"""Rules of a stack that are listed; of a deeper one the innermost."""


class ShapePlace(NamedTuple):
    """Where the end of a prefix stands.

    `waits_for`: what a JSON value waits for there, None outside of JSON. `instance`: the JSON
    Pointer of the value that is being read, or comes next, in the text; None if the text isn't one
    JSON value. `schemas`: the pointers of the schemas that this value satisfies so far, in the
    schema document; in place of a schema that is a reference alone stands its target. `rules`: the
    rules that are being read, the outermost first; one stack for each way in which the text can be
    read, the deepest first, at most `MOST_STACKS`.
    """

    waits_for: str | None
    instance: str | None
    schemas: tuple[str, ...]
    rules: tuple[tuple[str, ...], ...]


def place_of(matcher: Matcher, text: bytes) -> ShapePlace:
    """The place at which a matcher stands, `text` being what it has read."""
    recognizer = matcher.recognizer
    here = matcher.position.configuration
    is_json = reads_json(matcher)
    with recognizer:
        if is_json and text.rstrip(b" \t\r\n").endswith(b","):
            # White space after a comma is read together with it, before anything else.
            after = recognizer.leave(here)
            here = here if after.leaf == DEAD else after
        stack = [*context_stack(recognizer, here)]
        contexts = recognizer.machine.contexts
        levels = [level for level in map(contexts.level, stack) if level is not None]
        rules: tuple[tuple[str, ...], ...] = ()
        if isinstance(contexts, RuleContexts):
            key = recognizer.tables.leaves.keys[here.leaf]
            rules = RuleStacks(contexts, stack).of(key)
        schemas = _schemas(levels)
    waits_for = levels[0].phase if levels else None
    instance = pointer_at(text.decode(errors="replace")) if is_json else None
    if instance is not None and waits_for is LevelPhase.NEXT:  # the value in it has ended
        instance = instance.rpartition("/")[0]
    return ShapePlace(waits_for and waits_for.value, instance, schemas, rules)


def reads_json(matcher: Matcher) -> bool:
    """Whether the whole text is one JSON value, under a schema."""
    return not isinstance(matcher.recognizer.machine.contexts, RuleContexts | TextContexts)


def context_stack(recognizer: Recognizer, here: Configuration) -> Iterator[int]:
    """The contexts of a configuration, the innermost first."""
    arrays = recognizer.machine.arrays
    node = here.node
    while node != NO_NODE:
        yield int(arrays.node_context[node])
        node = int(arrays.node_parent[node])


# Schemas


def _schemas(levels: list[Level]) -> tuple[str, ...]:
    """The pointers of the schemas of the value that comes at the innermost level; between members
    and items, the pointers of the object's or array's schemas."""
    for level in levels:
        values = [*_coming(level)]
        if values:
            return tuple(sorted({schema.pointer for value in values for schema in value}))
    return ()


def _coming(level: Level) -> Iterator[Conjunction]:
    """What the value must satisfy that comes at a level."""
    for thread in level.threads:
        if thread.value is not None:
            yield thread.value
        elif level.phase is LevelPhase.FIRST and isinstance(thread.progress, ArrayProgress):
            yield from (option.value for option in thread.progress.options())


# Rules


class ReadTerminal(Immutable):
    """A terminal that is being read or comes next: the rules in which it stands, the outermost
    first; its language, or the value or token that it is; and what remains of the language."""

    rules: tuple[str, ...]
    symbol: Regular | JsonValue | SpecialToken
    rest: Regular | None


class RuleStacks:
    """The rules in which a text stands, found in the contexts of its configuration."""

    def __init__(self, contexts: RuleContexts, stack: list[int]) -> None:
        self._sets = contexts.sets
        self._network = contexts.network
        self._owners = rule_owners(contexts.network)
        contexts_found = map(contexts.context, stack)
        self._kernels = [
            here.kernel for here in contexts_found if isinstance(here, ItemSetContext | ReturnFrame)
        ]
        """The numbers of the kernels of item sets and return frames, the innermost first."""

    def of(self, key: Key) -> tuple[tuple[str, ...], ...]:
        """The stacks at a leaf, which says what of the innermost item set is still being read."""
        if not self._kernels:
            return ()
        found = {self._stack(position) for position, _, _ in self._being_read(key)}
        return tuple(sorted(found, key=lambda names: (-len(names), names))[:MOST_STACKS])

    def terminals(self, key: Key) -> Iterator[ReadTerminal]:
        """The terminals that a leaf reads, each in every rule in which it may stand."""
        if self._kernels:
            for position, symbol, rest in self._being_read(key):
                yield ReadTerminal(self._stack(position), symbol, rest)

    def _stack(self, position: RulePosition) -> tuple[str, ...]:
        rules = self._callers(position)
        return self._written([self._network.names[rule] for rule in reversed(rules)])

    def _being_read(
        self, key: Key
    ) -> Iterator[tuple[RulePosition, Regular | JsonValue | SpecialToken, Regular | None]]:
        """The symbols that are being read, what remains of their texts, and where rules go on after
        them."""
        closure = self._sets.closure(self._kernels[0])
        match key:
            case Text(term=Parallel(terms=terms, parts=parts)):
                for term, part in zip(terms, parts, strict=True):
                    if part is not EMPTY:
                        yield from ((i.after, term, part) for i in closure.texts.get(term, ()))
            case _:
                for term, items in closure.texts.items():
                    yield from ((item.after, term, term) for item in items)
                for symbols in (closure.values, closure.tokens):
                    for symbol, items in symbols.items():
                        yield from ((item.after, symbol, None) for item in items)

    def _callers(self, position: RulePosition) -> list[int]:
        """The rule of a position and the rules that called it, the innermost first. Of several
        callers the first is followed."""
        rules: list[int] = []
        seen: set[RulePosition] = set()
        frames = iter(self._kernels[1:])
        here: RulePosition | None = position
        while here is not None and here not in seen and len(rules) < DEEPEST:
            seen.add(here)
            rule, number = here.return_to.rule, here.return_to.kernel
            owners = self._owners.get(here.node, frozenset())
            if len(owners) == 1 and rule not in owners:
                rules += owners  # the rule around was left by a tail call
            rules.append(rule)
            if number == OUTERMOST:
                break
            if number == BELOW:
                number = next(frames, OUTERMOST)
            waiting = (each.after for each in self._sets.closure(number).waiting.get(rule, ()))
            # An order that doesn't change from run to run.
            here = min(waiting, key=lambda each: (each.node, repr(each)), default=None)
        return rules

    def _written(self, names: list[str]) -> tuple[str, ...]:
        """A stack without the rule that is put around the start rule for what a grammar ignores
        after the text."""
        around = self._network.names[self._network.start]
        start = around.removesuffix("-all")
        names = [start if name == around else name for name in names]
        return tuple(names[1:] if names[:2] == [start, start] else names)


def rule_owners(network: RuleNetwork) -> Mapping[int, frozenset[int]]:
    """By node: the rules in which it stands. Rules with equal endings share nodes."""
    owners: dict[int, set[int]] = defaultdict(set)
    for rule, start in enumerate(network.starts):
        stack = [start]
        seen = {RULE_END}
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                owners[at].add(rule)
                stack += successors(network.nodes[at])
    return {node: frozenset(rules) for node, rules in owners.items()}
