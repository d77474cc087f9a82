"""From a parsed pattern to a `Regular`: anchors, boundaries and lookaround become algebra.

The translation goes from right to left: `_translate(node, after, before)` is the language of
everything from the node to the end of the text, where `after` says what may follow and `before`
what stood to the left. So `$` is "nothing follows", and `(?=x)` is the intersection of what
follows with x·anything.

What stood to the left matters through the lookbehinds of the pattern alone, such as `^` (the text
so far is empty) and `\\b` (it ends with a word character). Each is the language of the
texts before which it holds, and `before` is how far each of these languages has been read: a state
of the automaton of all of them. There are few, and all are found before translating.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final, assert_never

from maskwright.errors import LimitError
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.tree import (
    Anchor,
    Choice,
    Class,
    Concat,
    Intersection,
    Lookahead,
    Lookbehind,
    Negation,
    Pattern,
    Quantified,
    inner,
    is_plain,
)
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.overlay import Arc
from maskwright.grammar.regular.terms import (
    ANY_CHAR,
    ANYTHING,
    EMPTY,
    EPSILON,
    Regular,
    alt,
    chars,
    complement,
    concat,
    intersection,
    loop,
    repeat,
    state,
)
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Limits, spend

States = tuple[Regular, ...]
"""For each look to the left, what its texts may still need; it holds where that is nullable."""


class Before(Immutable):
    """What stands to the left of a position.

    `idle` means that the round of the repeat being unrolled has not consumed anything yet (at the
    start of the text that goes without saying).
    """

    states: States
    idle: bool = False


After = dict[Before, Regular]

_EVERYTHING: Final = Quantified(Class(charset.EVERY), 0, None)
_START: Final = Anchor("start")
_END: Final = Anchor("end")
_NOT_EMPTY: Final = repeat(ANY_CHAR, 1, None)


@lru_cache(maxsize=4096)
def search(text: str, limits: Limits = DEFAULT_LIMITS, flags: Flags | None = None) -> Regular:
    """All strings in which the pattern is found somewhere (JSON Schema's `pattern`)."""
    tree = parse_pattern(text, limits, flags)
    before, within, after = _without_anchors(tree)
    if is_plain(within):
        return concat(before, _plain(within), after)
    translation = _Translation(tree, limits)
    later = translation.places_by_last_character()
    if later is None:
        return language(Concat((_EVERYTHING, tree, _EVERYTHING)), limits)
    after = translation.everywhere(ANYTHING)
    return alt(
        translation.translate(tree, after, translation.start),
        *(
            concat(ANYTHING, chars(ranges), translation.translate(tree, after, before))
            for before, ranges in later
        ),
    )


@lru_cache(maxsize=4096)
def full_match(text: str, limits: Limits = DEFAULT_LIMITS, flags: Flags | None = None) -> Regular:
    """All strings that the pattern matches from end to end."""
    return language(parse_pattern(text, limits, flags), limits)


def language(tree: Pattern, limits: Limits = DEFAULT_LIMITS) -> Regular:
    """All strings that a parsed pattern matches from end to end."""
    if is_plain(tree):
        return _plain(tree)
    translation = _Translation(tree, limits)
    return translation.translate(tree, translation.everywhere(EPSILON), translation.start)


class _Translation:
    """One pattern's translation: its lookbehinds, and the positions that they distinguish."""

    def __init__(self, tree: Pattern, limits: Limits) -> None:
        self._looks: dict[Pattern, int] = {}
        self._limits = limits
        self._steps: dict[States, list[tuple[Ranges, States]]] = {}
        self._unions: dict[tuple[int, ...], Regular] = {}
        self._splits: dict[tuple[Ranges, States], list[tuple[Ranges, Before]]] = {}
        languages: list[Regular] = []
        for look in _looks_to_the_left(tree):
            if look not in self._looks:
                self._looks[look] = len(languages)
                begun = Concat((_EVERYTHING, look.body)) if isinstance(look, Lookbehind) else None
                languages.append(EPSILON if begun is None else language(begun, limits))
        self.start = Before(tuple(languages))
        self._find_places()
        self.places = [Before(states, idle) for states in self._steps for idle in (False, True)]

    def _find_places(self) -> None:
        waiting = [self.start.states]
        while waiting:
            states = waiting.pop()
            spend()
            if states not in self._steps:
                spend(1 + len(states))
                self._steps[states] = _step_all(states)
                waiting.extend(target for _, target in self._steps[states])
            if len(self._steps) > self._limits.lookbehind_states:
                raise LimitError(
                    "the lookbehinds of a pattern have too many states together",
                    limit="lookbehind_states",
                    value=self._limits.lookbehind_states,
                )

    def places_by_last_character(self) -> list[tuple[Before, Ranges]] | None:
        """The places after the first character, each with the characters that lead there; None
        if more than the last character decides."""
        first, *others = self._steps.values()
        if any(steps != first for steps in others):
            return None
        return [(Before(states), ranges) for ranges, states in first]

    def everywhere(self, follow: Regular) -> After:
        """The same after every place."""
        return dict.fromkeys(self.places, follow)

    def holds(self, look: Pattern, before: Before) -> bool:
        return before.states[self._looks[look]].nullable

    def translate(self, node: Pattern, after: After, before: Before) -> Regular:
        spend()
        if _is_same(after) and is_plain(node):
            return concat(_plain(node), after[before])
        match node:
            case Class(ranges=ranges):
                return self._character(ranges, after, before)
            case Concat(parts=parts):
                for plain, run in groupby(reversed(parts[1:]), is_plain):
                    after = self._preceded(after, run, plain)
                return self.translate(parts[0], after, before) if parts else after[before]
            case Choice(options=options):
                return alt(*(self.translate(option, after, before) for option in options))
            case Quantified():
                return self._quantified(node, after, before)
            case Anchor():
                return self._anchor(node, after[before], before)
            case Lookahead(body=body, negative=negative):
                seen = self.translate(body, self.everywhere(ANYTHING), before)
                return intersection(complement(seen) if negative else seen, after[before])
            case Lookbehind(body=body, negative=negative):
                there = self.holds(Lookbehind(body, negative=False), before)
                return after[before] if there is not negative else EMPTY
            case Intersection() | Negation():
                return self._algebra(node, after, before)
            case _:
                assert_never(node)

    def _preceded(self, after: After, parts: Iterable[Pattern], plain: bool) -> After:
        """What follows a place if there are parts, the last one first, before what followed."""
        if plain and _is_same(after):  # then the place makes no difference
            follow = after[self.start]
            for part in parts:
                spend(len(self.places))
                follow = concat(_plain(part), follow)
            return self.everywhere(follow)
        for part in parts:
            after = {before: self.translate(part, after, before) for before in self.places}
        return after

    def _character(self, ranges: Ranges, after: After, before: Before) -> Regular:
        by_follow: dict[Regular, list[Ranges]] = {}
        for some, target in self._split(ranges, before.states):
            by_follow.setdefault(after[target], []).append(some)
        return alt(*(concat(self._any_of(some), follow) for follow, some in by_follow.items()))

    def _any_of(self, some: list[Ranges]) -> Regular:
        if len(some) == 1:
            return chars(some[0])
        key = tuple(map(id, some))  # each is kept by `_splits`
        known = self._unions.get(key)
        if known is None:
            known = self._unions[key] = chars(charset.union(*some))
        return known

    def _split(self, ranges: Ranges, states: States) -> list[tuple[Ranges, Before]]:
        """Where the characters of `ranges` lead."""
        key = (ranges, states)
        known = self._splits.get(key)
        if known is None:
            parts = [(charset.intersection(ranges, some), t) for some, t in self._steps[states]]
            known = self._splits[key] = [(some, Before(target)) for some, target in parts if some]
        return known

    def _anchor(self, node: Anchor, follow: Regular, before: Before) -> Regular:
        match node.kind:
            case "start":
                return follow if self.holds(_START, before) else EMPTY
            case "end":
                return intersection(EPSILON, follow)
            case kind:
                next_is_word = concat(chars(node.word), ANYTHING)
                behind_word = self.holds(_behind_word(node), before)
                at_boundary = complement(next_is_word) if behind_word else next_is_word
                return intersection(
                    at_boundary if kind == "word" else complement(at_boundary), follow
                )

    def _algebra(self, node: Intersection | Negation, after: After, before: Before) -> Regular:
        """Its texts, distinguished by the place to which they lead."""
        texts = _plain(node)
        options = [after[before]] if texts.nullable else []
        for target in self._steps:
            there = intersection(texts, _NOT_EMPTY, self._leading(before.states, target))
            options.append(concat(there, after[Before(target)]))
        return alt(*options)

    def _leading(self, states: States, target: States) -> Regular:
        """The texts that lead from one place to another."""
        return state(
            (self, states, target),
            states == target,
            lambda: sorted(
                (low, high, self._leading(following, target))
                for ranges, following in self._steps[states]
                for low, high in ranges
            ),
            plain=False,
        )

    def _quantified(self, node: Quantified, after: After, before: Before) -> Regular:
        """Repeat a body whose meaning depends on its surroundings, by unrolling lazily."""
        body = node.body

        def rounds(position: Before, least: int, most: int | None) -> Regular:
            here = Before(position.states, idle=True)
            stay = {b: ANYTHING if b == here else EMPTY for b in self.places}
            still = self.translate(body, stay, here)  # where a round may consume nothing
            if still is ANYTHING:
                least = 0
            done = intersection(still, after[position]) if least else after[position]
            if most == 0:
                return done
            left = None if most is None else most - 1

            def unfold() -> Regular:
                follow = {
                    b: EMPTY if b.idle else rounds(b, max(0, least - 1), left) for b in self.places
                }
                longer = self.translate(body, follow, here)
                if least > 1 and still is not EMPTY:
                    # One round that consumes nothing stands for all that are still due.
                    longer = alt(longer, intersection(still, rounds(position, 0, most)))
                return alt(done, longer)

            key = (self.start, node.body, least, most, position, *after.values())
            return loop(key, done.nullable, unfold)

        return rounds(before, node.least, node.most)


def _without_anchors(tree: Pattern) -> tuple[Regular, Pattern, Regular]:
    """What may stand before a pattern that is searched for, the pattern without `^` at its
    beginning and `$` at its end, and what may stand after it."""
    before, after = ANYTHING, ANYTHING
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    if parts and parts[0] == _START:
        before, parts = EPSILON, parts[1:]
    if parts and parts[-1] == _END:
        after, parts = EPSILON, parts[:-1]
    return before, Concat(parts), after


def _is_same(after: After) -> bool:
    """Whether the same follows after every place."""
    first, *others = after.values()
    return all(each is first for each in others)


def _looks_to_the_left(node: Pattern) -> Iterator[Pattern]:
    """What in a pattern asks for the text before it."""
    match node:
        case Anchor(kind="start"):
            yield _START
        case Anchor(kind="word" | "not word"):
            yield _behind_word(node)
        case Lookbehind(body=body):
            yield Lookbehind(body, negative=False)
        case Intersection() | Negation():
            return  # these see nothing outside themselves
        case _:
            for part in inner(node):
                yield from _looks_to_the_left(part)


def _behind_word(node: Anchor) -> Pattern:
    return Lookbehind(Class(node.word), negative=False)


def _step_all(states: States) -> list[tuple[Ranges, States]]:
    """Where each character leads, grouped by target."""
    moves = [arcs(each) for each in states]
    cuts = sorted({0, *(at for arc in moves for low, high, _ in arc for at in (low, high + 1))})
    reach: dict[States, list[tuple[int, int]]] = {}
    for low, stop in pairwise([*(at for at in cuts if at <= charset.LAST), charset.LAST + 1]):
        target = tuple(_after(arc, low) for arc in moves)
        reach.setdefault(target, []).append((low, stop - 1))
    return [(charset.normal(ranges), target) for target, ranges in reach.items()]


def _after(moves: tuple[Arc, ...], point: int) -> Regular:
    at = bisect_right(moves, point, key=itemgetter(0)) - 1
    return moves[at][2] if at >= 0 and moves[at][1] >= point else EMPTY


def _plain(node: Pattern) -> Regular:
    match node:
        case Class(ranges=ranges):
            return chars(ranges)
        case Concat(parts=parts):
            return concat(*(_plain(part) for part in parts))
        case Choice(options=options):
            return alt(*(_plain(option) for option in options))
        case Quantified(body=body, least=least, most=most):
            return repeat(_plain(body), least, most)
        case Intersection(parts=parts):
            return intersection(*(language(part) for part in parts))
        case Negation(body=body):
            return complement(language(body))
        case Anchor() | Lookahead() | Lookbehind():
            raise AssertionError("only called on plain nodes")
        case _:
            assert_never(node)
