"""From terms to automata: transitions, labels and emptiness of a `Regular`.

`split(term)` has the Brzozowski derivatives of a term for all characters at once, by classes of
characters, and `arcs(term)` as disjoint ascending ranges; only living targets are kept, so that a
state without arcs that is not nullable never appears. Each result is stored in the term. Texts that
are read side by side, as a leaf of a grammar reads them, are `Parallel`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import cycle
from threading import RLock
from typing import Final

from maskwright.errors import LimitError
from maskwright.garbage import hide_whole
from maskwright.grammar.regular.beginnings import (
    farthest,
    least_length,
    least_weight,
    surely_fits,
)
from maskwright.grammar.regular.byte_alphabet import alphabet, bytes_of, lacks_what_it_needs
from maskwright.grammar.regular.character_classes import (
    LAST_ASCII,
    NOWHERE,
    Arc,
    Split,
    overlaid,
    parted,
)
from maskwright.grammar.regular.character_dfa import NEVER, CharacterDfa, known_place
from maskwright.grammar.regular.composed import SHORT, check_searched, composed, joint
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    EPSILON,
    Alt,
    Chars,
    Complement,
    Concat,
    CountingSet,
    ExactlyOne,
    Intersection,
    LengthBounded,
    Loop,
    Parallel,
    Regular,
    Repeat,
    State,
    Tagged,
    Weighed,
    Words,
    alt,
    complement,
    concat,
    counting_set,
    exactly_one,
    intersection,
    length_bounded,
    parallel,
    repeat,
    tagged,
    weighed,
    word_list,
    word_slice,
)
from maskwright.grammar.regular.word_lists import word_arcs
from maskwright.limits import CHEAP, DEFAULT_LIMITS, spend


def parallel_start(terms: Sequence[Regular], ahead: Sequence[int] | None) -> Regular:
    """The start of `terms`; `ahead` are the bytes with which the text may go on after each, None
    where that isn't known."""
    return _parallel(tuple(terms), tuple(terms), ahead)


def reading_on(term: Parallel, living: Mapping[int, Regular]) -> Regular:
    """`term` with what is left of its parts; those that aren't among `living` have died."""
    terms, ahead = term.terms, term.ahead
    if ahead is None:
        parts = [living.get(at, EMPTY) for at in range(len(term.parts))]
        return parallel(terms, tuple(parts))
    if len(living) == 1:
        ((at, part),) = living.items()
        return _parallel((terms[at],), (part,), (ahead[at],))
    order = sorted(living)
    return _parallel(
        tuple([terms[at] for at in order]),
        tuple([living[at] for at in order]),
        [ahead[at] for at in order],
    )


def _parallel(
    terms: tuple[Regular, ...], parts: tuple[Regular, ...], ahead: Sequence[int] | None
) -> Regular:
    """What may come is only of interest where one of the texts may go on so, too: with the rest
    left out, leaves of more grammars and places are equal."""
    if ahead is None:
        return parallel(terms, parts)
    letters = 0
    for part in parts:
        letters |= alphabet(part) if part.alphabet is None else part.alphabet
    return parallel(terms, parts, tuple([each & letters for each in ahead]))


Label = int | tuple[int, ...]

REMEMBERED: Final = 1 << 17
"""Transitions that are kept for the next time that they are asked for."""
MOST_SIFTED: Final = 64
"""Words of a list that are looked at one by one where it is intersected."""
NEARBY: Final = 16
"""Terms looked at on one way to a text, before all ways are searched."""
LONG_SEARCH: Final = 64
"""States looked at in search of a text, before the characters of an intersection's parts are."""


def arcs(term: Regular) -> tuple[Arc, ...]:
    """Transitions (low, high, target), inclusive, disjoint, ascending, to living targets only."""
    return tuple(split(term).arcs())


def split(term: Regular) -> Split:
    """The transitions of a term to living targets, by classes of characters."""
    found = term.split
    if found is None:
        found = all_transitions(term)
        if not term.plain:
            found = hide_whole(found.mapped(lambda target: target if _lives(target) else EMPTY))
        term.split = found
        if term.steps is None:  # it was forgotten while it was asked which targets live
            _remembered.add(term, 1)
    assert isinstance(found, Split)
    return found


def first_bytes(term: Regular) -> int:
    """The bytes with which the strings of a language begin in UTF-8, as one int: bit n for byte
    n."""
    if term.heads is None:
        found = split(term)
        heads = bytes_of(tuple((low, high) for low, high, _ in found.ascii))
        for some, _ in found.beyond:
            heads |= bytes_of(some.ranges)
        term.heads = heads
    return term.heads


def transitions(term: Regular) -> tuple[Arc, ...]:
    """All transitions by ranges, also those to targets that may turn out to be dead."""
    return tuple(all_transitions(term).arcs())


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
    if term.nullable or (isinstance(term, Alt) and any(o.live for o in term.options)):
        term.live = True
    if term.live is None and isinstance(term, LengthBounded) and surely_fits(term):
        term.live = True
    if term.live is None and known_string(term) is not None:
        term.live = True
    if term.live is None and isinstance(term, LengthBounded):
        term.live = shortest_length(term)[1]
    if term.live is None:
        _decide(term, limit)
    return bool(term.live)


def contains(term: Regular, text: str) -> bool:
    """Whether `text` is in the language."""
    return derivative(term, text).nullable


def common(*parts: Regular) -> Regular:
    """The intersection of `parts`; of a short list of words those that are in the other parts."""
    lists = [part for part in parts if isinstance(part, Words) and not part.depth]
    others = [part for part in parts if part not in lists and part is not ANYTHING]
    found = intersection(*(lists or parts))
    if not others or not isinstance(found, Words) or found.high - found.low > MOST_SIFTED:
        return intersection(found, *others) if lists else found
    names = found.table.strings[found.low : found.high]
    kept = [name for name in names if all(_holds(part, name) for part in others)]
    return word_slice(word_list(kept, bare=found.table.bare)) if kept else EMPTY


def derivative(term: Regular, text: str) -> Regular:
    """What may follow after `text`; `EMPTY` if nothing may."""
    for character in text:
        term = split(term).after(ord(character))
    return term


def all_transitions(term: Regular) -> Split:
    """All transitions, also those to targets that may turn out to be dead."""
    found = term.steps
    if found is None:
        found = term.steps = hide_whole(_derive(term))
        steps = len(found.ascii) + len(found.beyond)
        _tally.made += steps
        _remembered.add(term, 1 + steps)
        spend(1 + steps)
    assert isinstance(found, Split)
    return found


class Remembered:
    """The terms that know their transitions or their automaton, the latest last.

    Transitions lead back to the term that has them, and terms are hidden from the collector of
    garbage (see `garbage`): they are freed once they are forgotten here and used nowhere else.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._terms: deque[Regular] = deque()
        self.sizes: deque[int] = deque()
        self.size = 0
        """Of all terms, as `add` was given them."""

    def add(self, term: Regular, size: int) -> None:
        """Remember a term; forget the earliest while all are larger than `REMEMBERED`."""
        with self._lock:
            self._terms.append(term)
            self.sizes.append(size)
            self.size += size
            while self.size > REMEMBERED:
                self._forget()

    def clear(self) -> None:
        """Forget all terms."""
        with self._lock:
            while self._terms:
                self._forget()

    def sweep(self) -> None:
        """Leave out the terms that know nothing any more."""
        with self._lock:
            for _ in range(len(self._terms)):
                term, size = self._terms.popleft(), self.sizes.popleft()
                self.size -= size
                if term.steps is not None or term.split is not None or term.automaton is not None:
                    self.add(term, size)

    def _forget(self) -> None:
        term = self._terms.popleft()
        self.size -= self.sizes.popleft()
        term.steps = term.split = term.automaton = None


_remembered = Remembered()


class _Tally:
    made = 0


_tally = _Tally()


def made() -> int:
    """How many transitions have been worked out so far: what terms take grows with them."""
    return _tally.made


def _derive(term: Regular) -> Split:  # noqa: C901 (one case a kind of term)
    match term:
        case Chars(ranges=ranges):
            return parted([(low, high, EPSILON) for low, high in ranges])
        case Words():
            return parted(word_arcs(term))
        case Concat():
            return _derive_concat(term)
        case Repeat(body=body, least=least, most=most):
            left = None if most is None else most - 1
            rest = repeat(body, max(0, least - 1), left)
            return all_transitions(body).mapped(lambda target: concat(target, rest))
        case CountingSet(body=body, counts=counts, tail=tail):
            rest = counting_set(body, counts >> 1, tail)
            column = all_transitions(body).mapped(lambda _: rest)
            return _either([column, all_transitions(tail)] if counts & 1 else [column])
        case Alt(options=options):
            return _either([all_transitions(option) for option in options])
        case Intersection(parts=parts):
            size = len(parts)
            return overlaid(
                [all_transitions(part) for part in parts],
                lambda t: intersection(*t.values()) if len(t) == size else EMPTY,
            )
        case ExactlyOne(options=options, excluded=excluded):
            last = len(options)
            return overlaid(
                [*map(all_transitions, options), all_transitions(excluded)],
                lambda t: exactly_one(
                    (target for at, target in t.items() if at < last), t.get(last, EMPTY)
                ),
            )
        case LengthBounded():
            return _length_bounded_steps(term)
        case Weighed():
            return _weighed_steps(term)
        case Complement(body=body):
            columns = [all_transitions(body), all_transitions(ANYTHING)]
            return overlaid(columns, lambda t: complement(t.get(0, EMPTY)))
        case Loop(unfold=unfold):
            return all_transitions(unfold())
        case State():
            return _moves_of(term)
        case Parallel(parts=(part,)):
            return split(part).mapped(lambda target: reading_on(term, {0: target}))
        case Parallel(parts=parts):
            return overlaid([split(part) for part in parts], lambda t: reading_on(term, t))
        case Tagged(parts=parts, named=named):
            columns = [all_transitions(part) for part in parts]
            return overlaid(
                columns,
                lambda t: tagged(
                    tuple([t.get(at, EMPTY) for at in range(len(parts))]), named=named
                ),
            )
        case _:
            return NOWHERE


def _moves_of(term: State) -> Split:
    found = term.moves()
    return found if isinstance(found, Split) else parted(found)


def _either(columns: list[Split]) -> Split:
    """The transitions of a union, given the transitions of its options."""
    return columns[0] if len(columns) == 1 else overlaid(columns, lambda t: alt(*t.values()))


def _derive_concat(term: Concat) -> Split:
    head, tail = term.head, term.tail
    if isinstance(head, Chars) and head.ranges[-1][1] <= LAST_ASCII:
        return Split(tuple([(low, high, tail) for low, high in head.ranges]), ())
    columns: list[Split] = []
    rest: Regular = term
    while isinstance(rest, Concat):
        columns.append(_before(all_transitions(rest.head), rest.tail))
        if not rest.head.nullable:
            break
        rest = rest.tail
    else:
        columns.append(all_transitions(rest))
    return _either(columns)


def _before(found: Split, tail: Regular) -> Split:
    """The transitions of a term that `tail` follows, as far as they don't lead into it."""
    return found.mapped(lambda target: tail if target is EPSILON else concat(target, tail))


def place(term: Regular) -> tuple[CharacterDfa, int]:
    """The automaton in which `term` is a state, and its number there.

    One that is made for it lives until the term's transitions are forgotten.
    """
    known = known_place(term)
    if known is None:
        known = (CharacterDfa(term, split), 0)
        term.automaton = known[0]
        _remembered.add(term, 1)
    return known


def _length_bounded_steps(term: LengthBounded) -> Split:
    """Those of the core after which a string of the wanted length can come."""
    least, most = max(term.least - 1, 0), None if term.most is None else term.most - 1
    found = split(term.core)
    far = farthest(term.core) if least == 0 else None
    if far is not None and (most is None or most >= far):  # an end follows wherever it leads
        return found.mapped(lambda target: _living(length_bounded(target, least, most)))
    automaton, number = place(term.core)
    if not automaton.can_measure(term.least):
        automaton.find(number)  # so that what follows is known to be in it, and isn't explored anew
        return found.mapped(lambda target: length_bounded(target, least, most))
    fewest = automaton.fewest(least)[least]
    longest = NEVER - 1 if most is None else most

    def bounded(target: Regular) -> Regular:
        if fewest[automaton.number(target)] > longest:
            return EMPTY
        return _living(length_bounded(target, least, most))

    return found.mapped(bounded)


def _living(term: Regular) -> Regular:
    """The term, which is known to have a string."""
    term.live = True
    return term


def _weighed_steps(term: Weighed) -> Split:
    """Those of the core after which the part that is being read can end within its bound."""
    core, room, scale = term.core, term.room, term.scale
    found = split(core)

    def after(target: Regular, first: int, weight: int) -> Regular:
        separates = any(low <= first <= high for low, high in scale.between)
        left = scale.most if separates else room - weight
        return weighed(target, left, scale) if least_weight(target, scale) <= left else EMPTY

    ascii_arcs = [(low, high, after(target, low, 1)) for low, high, target in found.ascii]
    beyond = [(some, after(t, some.ranges[0][0], scale.beyond)) for some, t in found.beyond]
    return Split(
        tuple([arc for arc in ascii_arcs if arc[2] is not EMPTY]),
        tuple([pair for pair in beyond if pair[1] is not EMPTY]),
    )


def _lives(term: Regular) -> bool:
    """As `is_live`, from one living term to the next, as far as they are known."""
    if term.live is None and known_string(term) is not None:
        term.live = True
    path: list[Regular] = []
    while term.live is None and not term.nullable and len(path) < NEARBY:
        if isinstance(term, LengthBounded):
            break
        path.append(term)
        targets = all_transitions(term).targets
        term = next((t for t in targets if t.live or t.nullable), targets[0] if targets else EMPTY)
    if not term.live and not term.nullable:
        return is_live(path[0] if path else term)
    for each in (*path, term):
        each.live = True
    return True


def known_string(term: Regular) -> str | None:
    """A short string of an `ExactlyOne` or an `Intersection`, within bounds on its length or not,
    if one is found without a search; None for other terms. Reading it takes the automata of the
    parts alone, and not that of their combinations."""
    return next(known_strings(term, padded=True), None)


def known_strings(term: Regular, *, padded: bool) -> Iterator[str]:
    """All strings that `known_string` may find; without `padded`, only those of which no part is
    repeated to make them long enough."""
    core, least, most = split_length_bounds(term)
    if isinstance(core, ExactlyOne | Intersection):
        for text in _likely_strings(core, least, padded=padded):
            fits = least <= len(text) and (most is None or len(text) <= most)
            if fits and _holds(core, text):
                yield text


def _likely_strings(term: ExactlyOne | Intersection, least: int, *, padded: bool) -> Iterator[str]:
    """A shortest string of each part, and one of all parts of an intersection together; also one of
    `least` characters at least if it is to be `padded`."""
    parts = term.options if isinstance(term, ExactlyOne) else term.parts
    for part in parts:
        if part.plain and least_length(part) <= SHORT:
            text = composed(part, DEFAULT_LIMITS.witness_search)
            if text is not None:
                yield text
    if isinstance(term, Intersection):
        text = joint(term).text
        wanted = max(least, least_length(term))
        if text:
            yield text
            if padded and len(text) < wanted <= SHORT:
                yield (text * wanted)[:wanted]


def _holds(term: Regular, text: str) -> bool:
    """As `contains`, found out part by part."""
    match term:
        case Alt(options=options):
            return any(_holds(option, text) for option in options)
        case Intersection(parts=parts):
            return all(_holds(part, text) for part in parts)
        case Complement(body=body):
            return not _holds(body, text)
        case ExactlyOne(options=options, excluded=excluded):
            held = sum(_holds(option, text) for option in options)
            return held == 1 and not _holds(excluded, text)
        case _:
            spend(CHEAP * len(text))
            for character in text:  # whether what follows has a string is what is being found out
                if term is ANYTHING or term is EMPTY:
                    break
                term = all_transitions(term).after(ord(character))
            return term.nullable


def _decide(term: Regular, limit: int) -> None:
    """Set `live` of `term`, and of every term whose answer the search meets on its way.

    Depth first: most languages have a string wherever one looks, and not all of them a short one.
    But the states of an intersection come in two orders by turns, since either may lead astray for
    long: fewest conditions first, and every fourth time the one from which an end is nearest by the
    look of it: of the part that is farthest from one, then of all parts together. Where that takes
    long, the characters of the parts may show that there is no end.
    """
    looked_at: set[Regular] = set()
    try:
        _look_for_end(term, limit, looked_at)
    except LimitError:
        let_go(looked_at)
        raise


def _look_for_end(term: Regular, limit: int, looked_at: set[Regular]) -> None:
    """Do as `_decide`, and enter the states whose transitions have been asked for into
    `looked_at`."""
    came_from: dict[Regular, Regular | None] = {term: None}
    fewest: list[_Turn] = [(0, 0, 0, term)]
    nearest = fewest.copy()
    for queue in cycle((fewest, fewest, fewest, nearest)):
        while queue and queue[0][-1] in looked_at:
            heappop(queue)
        if not queue:  # the other one has nothing new either
            break
        state = heappop(queue)[-1]
        looked_at.add(state)
        spend()
        is_late = len(looked_at) == LONG_SEARCH
        if is_late and isinstance(term, Intersection) and lacks_what_it_needs(term):
            break
        for target in (state, *all_transitions(state).targets):
            if target.nullable or target.live:
                _note_live(target, state, came_from)
                return
            if target not in came_from and target.live is not False:
                came_from[target] = state
                by_conditions, by_length = _turns(target, len(came_from))
                heappush(fewest, by_conditions)
                heappush(nearest, by_length)
        check_searched(len(came_from), limit)
    for state in came_from:
        state.live = False


def let_go(terms: Iterable[Regular]) -> None:
    """Forget the transitions of terms that a search met which ended at a limit, and of the other
    states of their automata: the targets live as long as they do, and may be hundreds of thousands.
    They are worked out anew if they are asked for again."""
    met = {*terms}
    met |= {term.core for term in met if isinstance(term, LengthBounded)}
    automata = {known[0] for known in map(known_place, met) if known is not None}
    for term in met.union(*(automaton.terms for automaton in automata)):
        term.steps = term.split = None
    _remembered.sweep()


def forget_transitions() -> None:
    """Forget the transitions of all terms, which are worked out anew where they are asked for."""
    _remembered.clear()


def _note_live(end: Regular, state: Regular, came_from: dict[Regular, Regular | None]) -> None:
    """Set `live` of the term in which a search ended, and of those on its way to it."""
    end.live = True
    step: Regular | None = state
    while step is not None:
        step.live = True
        step = came_from[step]


_Turn = tuple[int, int, int, Regular]


def _turns(term: Regular, number: int) -> tuple[_Turn, _Turn]:
    """When a search looks at a term, the `number`th that it has met, in either order."""
    core = term.core if isinstance(term, LengthBounded) else term
    if isinstance(core, Intersection):
        far = [least_length(part) for part in core.parts]
        return (len(far), 0, number, term), (max(far), sum(far), number, term)
    return (0, 0, -number, term), (0, 0, -number, term)


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
