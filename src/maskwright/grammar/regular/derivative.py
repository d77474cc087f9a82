"""From terms to automata: transitions, labels and emptiness of a `Regular`.

`arcs(term)` lists the Brzozowski derivatives of a term for all characters at once, as disjoint
ascending ranges; only living targets are kept, so that a state without arcs that is not nullable
never appears. Each result is stored in the term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count

from maskwright.errors import LimitError
from maskwright.grammar.regular.character_dfa import NEVER, CharacterDfa, known_place
from maskwright.grammar.regular.charset import LAST, complement
from maskwright.grammar.regular.parallel import reading_on
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Alt,
    Chars,
    Complement,
    Concat,
    Intersection,
    LengthBounded,
    Loop,
    Parallel,
    Regular,
    Repeat,
    State,
    Tagged,
    Words,
    alt,
    concat,
    intersection,
    length_bounded,
    repeat,
    tagged,
)
from maskwright.grammar.regular.terms import complement as negation
from maskwright.grammar.regular.word_lists import word_arcs
from maskwright.limits import DEFAULT_LIMITS, spend

Arc = tuple[int, int, Regular]
Label = int | tuple[int, ...]


def arcs(term: Regular) -> tuple[Arc, ...]:
    """Transitions (low, high, target), inclusive, disjoint, ascending, to living targets only."""
    if term.arcs is None:
        found = transitions(term)
        term.arcs = found if term.plain else tuple(arc for arc in found if is_live(arc[2]))
    return term.arcs


def label(term: Regular) -> Label:
    """What reading up to here has matched; 0 is nothing.

    1 for a nullable term; for a `Tagged` a tuple with one entry a part: 1 where the part is
    nullable, for the `Words` part of a named term 1 + the index of the word.
    """
    if not isinstance(term, Tagged):
        return int(term.nullable)
    if not term.nullable:
        return 0
    found = [int(part.nullable) for part in term.parts]
    first = term.parts[0]
    if term.named and isinstance(first, Words) and first.nullable:
        found[0] = 1 + first.low
    return tuple(found)


def is_live(term: Regular, limit: int = DEFAULT_LIMITS.witness_search) -> bool:
    """Whether the language of `term` has any string."""
    if term.live is None and isinstance(term, Alt) and any(o.live for o in term.options):
        term.live = True
    if term.live is None and isinstance(term, LengthBounded):
        _, term.live = shortest_length(term)
    if term.live is None:
        _decide(term, limit)
    return bool(term.live)


def contains(term: Regular, text: str) -> bool:
    """Whether `text` is in the language."""
    return derivative(term, text).nullable


def derivative(term: Regular, text: str) -> Regular:
    """What may follow after `text`; `EMPTY` if nothing may."""
    for character in text:
        point = ord(character)
        term = next((t for low, high, t in arcs(term) if low <= point <= high), EMPTY)
    return term


def transitions(term: Regular) -> tuple[Arc, ...]:
    """All transitions, also those to targets that may turn out to be dead."""
    if term.steps is None:
        term.steps = tuple(_joined(_derive(term)))
        _tally.made += len(term.steps)
        spend(1 + len(term.steps) // 4)
    return term.steps


class _Tally:
    made = 0


_tally = _Tally()


def made() -> int:
    """How many transitions have been worked out so far: what terms take grows with them."""
    return _tally.made


def _derive(term: Regular) -> Sequence[Arc]:
    match term:
        case Chars():
            return [(low, high, EPSILON) for low, high in term.ranges]
        case Words():
            return list(word_arcs(term))
        case Concat():
            return _derive_concat(term)
        case Repeat(body=body, least=least, most=most):
            left = None if most is None else most - 1
            rest = repeat(body, max(0, least - 1), left)
            return [(low, high, concat(t, rest)) for low, high, t in transitions(body)]
        case Alt(options=options):
            return spread([transitions(o) for o in options], lambda t: alt(*t.values()))
        case Intersection(parts=parts):
            return _merge([transitions(p) for p in parts], lambda t: intersection(*t), EMPTY)
        case LengthBounded():
            return _length_bounded_steps(term)
        case Complement(body=body):
            inner = list(transitions(body))
            gaps = complement(tuple((low, high) for low, high, _ in inner))
            inner += [(low, high, EMPTY) for low, high in gaps]
            return [(low, high, negation(t)) for low, high, t in sorted(inner, key=_low)]
        case Loop(unfold=unfold):
            return transitions(unfold())
        case State(moves=moves):
            return moves()
        case Parallel(parts=parts):
            return spread([arcs(p) for p in parts], lambda t: reading_on(term, t))
        case Tagged(parts=parts, named=named):
            return _merge(
                [transitions(p) for p in parts], lambda t: tagged(tuple(t), named=named), EMPTY
            )
        case _:
            return []


def _derive_concat(term: Concat) -> Sequence[Arc]:
    columns: list[Sequence[Arc]] = []
    rest: Regular = term
    while isinstance(rest, Concat):
        tail = rest.tail
        columns.append([(low, high, concat(t, tail)) for low, high, t in transitions(rest.head)])
        if not rest.head.nullable:
            break
        rest = tail
    else:
        columns.append(transitions(rest))
    return columns[0] if len(columns) == 1 else spread(columns, lambda t: alt(*t.values()))


def place(term: Regular) -> tuple[CharacterDfa, int]:
    """The automaton in which `term` is a state, and its number there.

    One that is made for it lives as long as it does.
    """
    known = known_place(term)
    if known is None:
        term.automaton = CharacterDfa(term, arcs)
        known = (term.automaton, 0)
    return known


def _length_bounded_steps(term: LengthBounded) -> list[Arc]:
    """Those of the core after which a string of the wanted length can come."""
    least, most = max(term.least - 1, 0), None if term.most is None else term.most - 1
    automaton, state = place(term.core)
    if not automaton.can_measure(term.least):
        return [(low, high, length_bounded(t, least, most)) for low, high, t in arcs(term.core)]
    automaton.find(state)
    fewest = automaton.fewest(least)[least].tolist()
    longest = NEVER - 1 if most is None else most
    found: list[Arc] = []
    targets: dict[int, Regular] = {}
    for low, high, number in automaton.steps[state] or ():
        if fewest[number] <= longest:
            target = targets.get(number)
            if target is None:
                target = targets[number] = length_bounded(automaton.terms[number], least, most)
                target.live = True
            found.append((low, high, target))
    return found


def _low(arc: Arc) -> int:
    return arc[0]


def _merge(
    columns: list[Sequence[Arc]],
    join: Callable[[list[Regular]], Regular],
    missing: Regular,
) -> list[Arc]:
    """Overlay several transition lists: `join` gets one target a column, `missing` in a gap."""
    events: list[tuple[int, int, Regular]] = []
    for column, entries in enumerate(columns):
        for low, high, target in entries:
            events.append((low, column, target))
            events.append((high + 1, column, missing))
    events.sort(key=lambda event: (event[0], event[2] is not missing))
    spend(len(events) // 16)
    current = [missing] * len(columns)
    merged: list[Arc] = []
    memo: dict[tuple[Regular, ...], Regular] = {}
    for at, (start, column, target) in enumerate(events):
        current[column] = target
        stop = events[at + 1][0] if at + 1 < len(events) else LAST + 1
        if stop == start:
            continue
        key = tuple(current)
        joined = memo.get(key)
        if joined is None:
            spend(len(current) // 2)
            joined = memo[key] = join(current)
        if joined is not EMPTY:
            merged.append((start, stop - 1, joined))
    return merged


def spread(
    columns: list[Sequence[Arc]], join: Callable[[dict[int, Regular]], Regular]
) -> list[Arc]:
    """As `_merge`, for columns most of which have a gap at most places: `join` gets the others."""
    events: list[tuple[int, bool, int, Regular]] = []
    for column, entries in enumerate(columns):
        for low, high, target in entries:
            events.append((low, True, column, target))
            events.append((high + 1, False, column, target))
    events.sort(key=_place)
    spend(len(events) // 16)
    current: dict[int, Regular] = {}
    merged: list[Arc] = []
    memo: dict[frozenset[tuple[int, Regular]], Regular] = {}
    for at, (start, begins, column, target) in enumerate(events):
        if begins:
            current[column] = target
        else:
            del current[column]
        if not current or events[at + 1][0] == start:
            continue
        key = frozenset(current.items())
        joined = memo.get(key)
        if joined is None:
            spend(len(current) // 16)
            joined = memo[key] = join(current)
        if joined is not EMPTY:
            merged.append((start, events[at + 1][0] - 1, joined))
    return merged


def _place(event: tuple[int, bool, int, Regular]) -> tuple[int, bool]:
    return event[:2]


def _joined(found: Sequence[Arc]) -> list[Arc]:
    """Join neighbouring ranges with one target."""
    joined: list[Arc] = []
    for low, high, target in found:
        if joined and joined[-1][2] is target and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high, target)
        else:
            joined.append((low, high, target))
    return joined


def _decide(term: Regular, limit: int) -> None:
    """Set `live` of `term`, and of every term whose answer the search meets on its way.

    Depth first: most languages have a string wherever one looks, and not all of them a short one.
    But of an intersection the states come first that have fewest conditions left, each where it is
    nearest.
    """
    came_from: dict[Regular, Regular | None] = {term: None}
    tie = count()
    queue = [(0, 0, term)]
    while queue:
        _, _, state = heappop(queue)
        if state.nullable or state.live:
            step: Regular | None = state
            while step is not None:
                step.live = True
                step = came_from[step]
            return
        spend()
        for _, _, target in transitions(state):
            if target not in came_from and target.live is not False:
                came_from[target] = state
                heappush(queue, _turn(target, next(tie)))
        check_searched(len(came_from), limit)
    for state in came_from:
        state.live = False


def _turn(term: Regular, number: int) -> tuple[int, int, Regular]:
    """When a search looks at a term, the `number`th that it has met."""
    core = term.core if isinstance(term, LengthBounded) else term
    parts = len(core.parts) if isinstance(core, Intersection) else 0
    return (parts, number, term) if parts else (0, -number, term)


def shortest_length(term: Regular) -> tuple[int | None, bool | None]:
    """The length of the shortest string, None if there is none or it isn't known; whether there is
    one, None if it isn't known."""
    core, least, most = split_length_bounds(term)
    automaton, number = place(core)
    if not automaton.can_measure(least):
        return None, None
    length = int(automaton.fewest(least)[least, number])
    if length >= NEVER or (most is not None and length > most):
        return None, False
    return length, True


def split_length_bounds(term: Regular) -> tuple[Regular, int, int | None]:
    """A term without its length bounds, and these."""
    return (
        (term.core, term.least, term.most) if isinstance(term, LengthBounded) else (term, 0, None)
    )


def check_searched(seen: int, limit: int) -> None:
    """Raise `LimitError` for a search through more than `limit` states."""
    if seen > limit:
        raise LimitError(
            f"the shortest string of a pattern was not found among {limit:,} states",
            limit="witness_search",
        )
