"""From terms to automata; see `derivative.pyi`."""

from collections import deque
from heapq import heappop, heappush
from itertools import cycle

from libc.stdint cimport int64_t

from maskwright.errors import LimitError
from maskwright.garbage cimport hide_whole
from maskwright.grammar.regular.beginnings import (
    farthest,
    least_length,
    least_weight,
    surely_fits,
)
from maskwright.grammar.regular.byte_alphabet import alphabet, bytes_of, lacks_what_it_needs
from maskwright.grammar.regular.character_dfa import NEVER as NO_LENGTH
from maskwright.grammar.regular.character_dfa import CharacterDfa, known_place
from maskwright.grammar.regular.composed import SHORT as SHORT_STRING
from maskwright.grammar.regular.composed import check_searched, composed, joint
from maskwright.grammar.regular.overlay cimport Split, overlaid, parted
from maskwright.grammar.regular.overlay import NOWHERE as NO_TRANSITIONS
from maskwright.grammar.regular.terms cimport (
    ANYTHING_TERM,
    EMPTY_TERM,
    EPSILON_TERM,
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
    WordList,
    Words,
    all_of,
    any_of,
    chained,
    complement,
    counting_set,
    exactly_one,
    length_bounded,
    parallel,
    repeat,
    tagged,
    weighed,
    word_list,
    word_slice,
)
from maskwright.grammar.regular.word_lists import word_arcs
from maskwright.limits import CHEAP, DEFAULT_LIMITS
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

REMEMBERED = 1 << 17
MOST_SIFTED = 64

cdef enum:
    LAST_ASCII = 0x7F
    # Terms looked at on one way to a text, before all ways are searched.
    NEARBY = 16
    # States looked at in search of a text, before the characters of an intersection's parts are.
    LONG_SEARCH = 64

cdef double cheap = CHEAP
cdef int64_t NEVER = NO_LENGTH, SHORT = SHORT_STRING
cdef Split NOWHERE = NO_TRANSITIONS
cdef int64_t transitions_made = 0


def parallel_start(terms, ahead):
    return reading(tuple(terms), tuple(terms), ahead)


cpdef Regular reading_on(Parallel term, dict living):
    cdef tuple terms = term.terms, ahead = term.ahead
    cdef Py_ssize_t at
    cdef list order
    if ahead is None:
        return parallel(
            terms, tuple([living.get(at, EMPTY_TERM) for at in range(len(term.parts))])
        )
    order = sorted(living)
    return reading(
        tuple([terms[at] for at in order]),
        tuple([living[at] for at in order]),
        [ahead[at] for at in order],
    )


cdef Regular reading(tuple terms, tuple parts, ahead):
    """What may come is only of interest where one of the texts may go on so, too: with the rest
    left out, leaves of more grammars and places are equal."""
    cdef Regular part
    if ahead is None:
        return parallel(terms, parts)
    letters = 0
    for part in parts:
        letters |= alphabet(part) if part.alphabet is None else part.alphabet
    return parallel(terms, parts, tuple([each & letters for each in ahead]))


def arcs(Regular term not None):
    return tuple(split(term).arcs())


cpdef Split split(Regular term):
    cdef Split found = term.split
    if found is None:
        found = all_transitions(term)
        if not term.plain:
            found = hide_whole(
                found.replaced(
                    {
                        target: target if lives(target) else EMPTY_TERM
                        for target in found.all_targets()
                    }
                )
            )
        term.split = found
        if term.steps is None:  # it was forgotten while it was asked which targets live
            remembered.add(term, 1)
    return found


def first_bytes(Regular term not None):
    cdef Split found
    if term.heads is None:
        found = split(term)
        heads = bytes_of(tuple([(low, high) for low, high, _ in found.ascii]))
        for some, _ in found.beyond:
            heads |= bytes_of((<Chars>some).ranges)
        term.heads = heads
    return term.heads


def transitions(Regular term not None):
    return tuple(all_transitions(term).arcs())


cpdef label(Regular term):
    cdef Regular part, first
    if not isinstance(term, Tagged):
        return 1 if term.nullable else 0
    if not term.nullable:
        return 0
    found = []
    for part in (<Tagged>term).parts:
        found.append(1 if part.nullable else 0)
    first = (<Tagged>term).parts[0]
    if (<Tagged>term).named and isinstance(first, Words) and first.nullable:
        found[0] = 1 + (<Words>first).low
    return tuple(found)


def is_live(Regular term not None, limit=DEFAULT_LIMITS.witness_search):
    return lives_within(term, limit)


cdef bint lives_within(Regular term, limit) except -1:
    cdef Regular option
    if term.nullable:
        term.live = True
    elif isinstance(term, Alt):
        for option in (<Alt>term).options:
            if option.live:
                term.live = True
                break
    if term.live is None and isinstance(term, LengthBounded) and surely_fits(term):
        term.live = True
    if term.live is None and known_string(term) is not None:
        term.live = True
    if term.live is None and isinstance(term, LengthBounded):
        term.live = shortest_length(term)[1]
    if term.live is None:
        decide(term, limit)
    return term.live is True


def contains(Regular term not None, str text not None):
    return derivative(term, text).nullable


def common(*parts):
    cdef Words found
    cdef WordList table
    cdef list lists = [], others = []
    for part in parts:
        if isinstance(part, Words) and not (<Words>part).depth:
            lists.append(part)
        elif part is not ANYTHING_TERM:
            others.append(part)
    some = all_of(lists or parts)
    if not others or not isinstance(some, Words):
        return all_of([some, *others]) if lists else some
    found = <Words>some
    if found.high - found.low > MOST_SIFTED:
        return all_of([some, *others]) if lists else some
    table = found.table
    kept = []
    for name in table.strings[found.low : found.high]:
        if all_hold(others, name):
            kept.append(name)
    return word_slice(word_list(kept, table.bare)) if kept else EMPTY_TERM


cpdef Regular derivative(Regular term, str text):
    cdef Py_UCS4 character
    for character in text:
        term = split(term).after(character)
    return term


cpdef Split all_transitions(Regular term):
    global transitions_made
    cdef Split found = term.steps
    cdef Py_ssize_t steps
    if found is None:
        found = term.steps = hide_whole(derive(term))
        steps = len(found.ascii) + len(found.beyond)
        transitions_made += steps
        remembered.add(term, 1 + steps)
        spend(1 + steps)
    return found


cdef class Remembered:
    def __init__(self):
        self.terms, self.sizes = deque(), deque()

    # Nothing here runs code of Python before both queues and the size agree again: letting go of a
    # term may run some.
    cpdef int add(self, Regular term, Py_ssize_t size) except -1:
        self.terms.append(term)
        self.sizes.append(size)
        self.size += size
        while self.size > REMEMBERED:
            self.forget()
        return 0

    cdef int forget(self) except -1:
        cdef Regular term = self.terms.popleft()
        self.size -= self.sizes.popleft()
        term.steps = term.split = term.automaton = None
        return 0

    def clear(self):
        while self.terms:
            self.forget()

    def sweep(self):
        cdef Regular term
        cdef Py_ssize_t size
        for _ in range(len(self.terms)):
            term, size = self.terms.popleft(), self.sizes.popleft()
            self.size -= size
            if term.steps is not None or term.split is not None or term.automaton is not None:
                self.add(term, size)


cdef Remembered remembered = Remembered()


def made():
    return transitions_made


cdef Split derive(Regular term):
    kind = type(term)
    if kind is Concat:
        return derive_concat(<Concat>term)
    if kind is Alt:
        return either(steps_of((<Alt>term).options))
    if kind is Chars:
        return parted([(low, high, EPSILON_TERM) for low, high in (<Chars>term).ranges])
    if kind is Words:
        return parted(word_arcs(term))
    if kind is Repeat:
        return derive_repeat(<Repeat>term)
    if kind is Intersection:
        return overlaid(steps_of((<Intersection>term).parts), join_of(term))
    if kind is Complement:
        columns = [all_transitions((<Complement>term).body), all_transitions(ANYTHING_TERM)]
        return overlaid(columns, join_of(term))
    if kind is State:
        found = (<State>term).moves()
        return <Split>found if isinstance(found, Split) else parted(found)
    if kind is Tagged:
        return overlaid(steps_of((<Tagged>term).parts), join_of(term))
    if kind is Parallel:
        return derive_parallel(<Parallel>term)
    if kind is LengthBounded:
        return derive_length_bounded(<LengthBounded>term)
    if kind is ExactlyOne:
        columns = steps_of((<ExactlyOne>term).options)
        columns.append(all_transitions((<ExactlyOne>term).excluded))
        return overlaid(columns, join_of(term))
    if kind is CountingSet:
        return derive_counting_set(<CountingSet>term)
    if kind is Weighed:
        return derive_weighed(<Weighed>term)
    if kind is Loop:
        return all_transitions((<Loop>term).unfold())
    return NOWHERE


cdef list steps_of(tuple terms):
    cdef Regular term
    return [all_transitions(term) for term in terms]


cdef Split either(list columns):
    """The transitions of a union, given the transitions of its options."""
    return columns[0] if len(columns) == 1 else overlaid(columns, union_of_targets)


def union_of_targets(dict targets):
    return any_of(targets.values())


def join_of(Regular term):
    """What joins the targets of a term's parts."""
    cdef Py_ssize_t count
    if isinstance(term, Intersection):
        count = len((<Intersection>term).parts)
        return lambda dict t: all_of(tuple(t.values())) if len(t) == count else EMPTY_TERM
    if isinstance(term, ExactlyOne):
        count = len((<ExactlyOne>term).options)
        return lambda dict t: exactly_one(
            [target for at, target in t.items() if at < count], t.get(count, EMPTY_TERM)
        )
    if isinstance(term, Complement):
        return lambda dict t: complement(t.get(0, EMPTY_TERM))
    if isinstance(term, Parallel):
        return lambda dict t: reading_on(<Parallel>term, t)
    count = len((<Tagged>term).parts)
    return lambda dict t: tagged(
        tuple([t.get(at, EMPTY_TERM) for at in range(count)]), (<Tagged>term).named
    )


cdef Split derive_concat(Concat term):
    cdef list columns = []
    cdef Regular rest = term, head = term.head
    if isinstance(head, Chars):
        ranges = (<Chars>head).ranges
        if ranges[len(ranges) - 1][1] <= LAST_ASCII:
            return Split(tuple([(low, high, term.tail) for low, high in ranges]), ())
    while isinstance(rest, Concat):
        head = (<Concat>rest).head
        rest = (<Concat>rest).tail
        columns.append(before(all_transitions(head), rest))
        if not head.nullable:
            break
    else:
        columns.append(all_transitions(rest))
    return either(columns)


cdef Split before(Split found, Regular tail):
    """The transitions of a term that `tail` follows, as far as they don't lead into it."""
    return found.replaced({target: chained(target, tail) for target in found.all_targets()})


cdef Split derive_repeat(Repeat term):
    cdef Regular rest = repeat(
        term.body,
        term.least - 1 if term.least > 0 else 0,
        None if term.most is None else term.most - 1,
    )
    return before(all_transitions(term.body), rest)


cdef Split derive_counting_set(CountingSet term):
    cdef Regular rest = counting_set(term.body, term.counts >> 1, term.tail)
    cdef list columns = [before(all_transitions(term.body), rest)]
    if term.counts & 1:
        columns.append(all_transitions(term.tail))
    return either(columns)


cdef Split derive_parallel(Parallel term):
    cdef Regular part
    cdef list columns = [split(part) for part in term.parts]
    cdef Split found
    if len(columns) > 1:
        return overlaid(columns, join_of(term))
    found = columns[0]
    return found.replaced(
        {target: reading_on(term, {0: target}) for target in found.all_targets()}
    )


def place(Regular term not None):
    return place_of(term)


cdef tuple place_of(Regular term):
    known = known_place(term)
    if known is None:
        known = (CharacterDfa(term, split), 0)
        term.automaton = known[0]
        remembered.add(term, 1)
    return known


cdef Split derive_length_bounded(LengthBounded term):
    """Those of the core after which a string of the wanted length can come."""
    cdef Split found = split(term.core)
    cdef dict bounded = {}
    cdef Regular target
    least = term.least - 1 if term.least > 0 else 0
    most = None if term.most is None else term.most - 1
    fewest = automaton = None
    far = farthest(term.core) if least == 0 else None
    is_known = far is not None and (most is None or most >= far)  # an end follows wherever it leads
    if not is_known:
        automaton, number = place_of(term.core)
        if automaton.can_measure(term.least):
            is_known, fewest = True, automaton.fewest(least)[least]
        else:
            automaton.find(number)  # what follows is known to be in it, and isn't explored anew
    longest = NEVER - 1 if most is None else most
    for target in found.all_targets():
        if fewest is not None and fewest[automaton.number(target)] > longest:
            bounded[target] = EMPTY_TERM
        else:
            bounded[target] = length_bounded(target, least, most)
            if is_known:
                (<Regular>bounded[target]).live = True
    return found.replaced(bounded)


cdef Split derive_weighed(Weighed term):
    """Those of the core after which the part that is being read can end within its bound."""
    cdef list ascii = [], beyond = []
    cdef Split found = split(term.core)
    for low, high, target in found.ascii:
        target = weighed_after(term, target, low, 1)
        if target is not EMPTY_TERM:
            ascii.append((low, high, target))
    for some, target in found.beyond:
        target = weighed_after(term, target, (<Chars>some).ranges[0][0], term.scale.beyond)
        if target is not EMPTY_TERM:
            beyond.append((some, target))
    return Split(tuple(ascii), tuple(beyond))


cdef Regular weighed_after(Weighed term, target, first, weight):
    left = term.room - weight
    for low, high in term.scale.between:
        if low <= first <= high:
            left = term.scale.most
    if least_weight(target, term.scale) > left:
        return EMPTY_TERM
    return weighed(target, left, term.scale)


cdef bint lives(Regular term) except -1:
    """As `is_live`, from one living term to the next, as far as they are known."""
    cdef list path = [], targets
    cdef Regular each
    if term.live is None and known_string(term) is not None:
        term.live = True
    while term.live is None and not term.nullable and len(path) < NEARBY:
        if isinstance(term, LengthBounded):
            break
        path.append(term)
        targets = all_transitions(term).targets
        term = targets[0] if targets else EMPTY_TERM
        for each in targets:
            if each.live or each.nullable:
                term = each
                break
    if not term.live and not term.nullable:
        return lives_within(path[0] if path else term, DEFAULT_LIMITS.witness_search)
    for each in path:
        each.live = True
    term.live = True
    return True


def known_string(Regular term not None):
    if isinstance(term, (ExactlyOne, Intersection, LengthBounded)):
        for text in known_strings(term, padded=True):
            return text
    return None


def known_strings(Regular term not None, *, bint padded):
    cdef Regular core
    core, least, most = split_length_bounds(term)
    if isinstance(core, (ExactlyOne, Intersection)):
        for text in likely_strings(core, least, padded):
            if least <= len(text) and (most is None or len(text) <= most) and holds(core, text):
                yield text


def likely_strings(Regular term, least, bint padded):
    """A shortest string of each part, and one of all parts of an intersection together; also one of
    `least` characters at least if it is to be `padded`."""
    cdef Regular part
    is_joint = isinstance(term, Intersection)
    for part in (<Intersection>term).parts if is_joint else (<ExactlyOne>term).options:
        if part.plain and least_length(part) <= SHORT:
            text = composed(part, DEFAULT_LIMITS.witness_search)
            if text is not None:
                yield text
    if is_joint:
        text = joint(term).text
        wanted = max(least, least_length(term))
        if text:
            yield text
            if padded and len(text) < wanted <= SHORT:
                yield (text * wanted)[:wanted]


cdef bint holds(Regular term, str text) except -1:
    """As `contains`, found out part by part."""
    cdef Py_UCS4 character
    cdef Regular option
    cdef Py_ssize_t held = 0
    if isinstance(term, Alt):
        for option in (<Alt>term).options:
            if holds(option, text):
                return True
        return False
    if isinstance(term, Intersection):
        return all_hold((<Intersection>term).parts, text)
    if isinstance(term, Complement):
        return not holds((<Complement>term).body, text)
    if isinstance(term, ExactlyOne):
        for option in (<ExactlyOne>term).options:
            held += holds(option, text)
        return held == 1 and not holds((<ExactlyOne>term).excluded, text)
    spend(cheap * len(text))
    for character in text:  # whether what follows has a string is what is being found out
        if term is ANYTHING_TERM or term is EMPTY_TERM:
            break
        term = all_transitions(term).after(character)
    return term.nullable


cdef bint all_hold(parts, str text) except -1:
    cdef Regular part
    for part in parts:
        if not holds(part, text):
            return False
    return True


cdef int decide(Regular term, limit) except -1:
    """Set `live` of `term`, and of every term whose answer the search meets on its way.

    Depth first: most languages have a string wherever one looks, and not all of them a short one.
    But the states of an intersection come in two orders by turns, since either may lead astray for
    long: fewest conditions first, and every fourth time the one from which an end is nearest by the
    look of it: of the part that is farthest from one, then of all parts together. Where that takes
    long, the characters of the parts may show that there is no end.
    """
    cdef set looked_at = set()
    try:
        look_for_end(term, limit, looked_at)
    except LimitError:
        let_go(looked_at)
        raise
    return 0


cdef int look_for_end(Regular term, limit, set looked_at) except -1:
    """Do as `decide`, and enter the states whose transitions have been asked for into
    `looked_at`."""
    cdef dict came_from = {term: None}
    cdef Regular state, target
    fewest = [(0, 0, 0, term)]
    nearest = fewest.copy()
    for queue in cycle((fewest, fewest, fewest, nearest)):
        while queue and queue[0][3] in looked_at:
            heappop(queue)
        if not queue:  # the other one has nothing new either
            break
        state = heappop(queue)[3]
        looked_at.add(state)
        spend()
        if len(looked_at) == LONG_SEARCH and isinstance(term, Intersection):
            if lacks_what_it_needs(term):
                break
        for target in [state, *all_transitions(state).targets]:
            if target.nullable or target.live:
                note_live(target, state, came_from)
                return 0
            if target not in came_from and target.live is not False:
                came_from[target] = state
                by_conditions, by_length = turns(target, len(came_from))
                heappush(fewest, by_conditions)
                heappush(nearest, by_length)
        check_searched(len(came_from), limit)
    for state in came_from:
        state.live = False
    return 0


def let_go(terms):
    cdef set met = set(terms), automata = set()
    cdef Regular term
    met |= {(<LengthBounded>term).core for term in met if isinstance(term, LengthBounded)}
    for term in met:
        known = known_place(term)
        if known is not None:
            automata.add(known[0])
    for term in met.union(*[automaton.terms for automaton in automata]):
        term.steps = term.split = None
    remembered.sweep()


def forget_transitions():
    remembered.clear()


cdef int note_live(Regular end, Regular state, dict came_from) except -1:
    """Set `live` of the term in which a search ended, and of those on its way to it."""
    end.live = True
    while state is not None:
        state.live = True
        state = came_from[state]
    return 0


cdef tuple turns(Regular term, Py_ssize_t number):
    """When a search looks at a term, the `number`th that it has met, in either order."""
    cdef Regular core = (<LengthBounded>term).core if isinstance(term, LengthBounded) else term
    if isinstance(core, Intersection):
        far = [least_length(part) for part in (<Intersection>core).parts]
        return (len(far), 0, number, term), (max(far), sum(far), number, term)
    return (0, 0, -number, term), (0, 0, -number, term)


def shortest_length(Regular term not None):
    core, least, most = split_length_bounds(term)
    automaton, number = place_of(core)
    if not automaton.can_measure(least):
        return None, None
    length = int(automaton.fewest(least)[least, number])
    if length >= NEVER or (most is not None and length > most):
        return None, False
    return length, True


cpdef tuple split_length_bounds(Regular term):
    if isinstance(term, LengthBounded):
        return (<LengthBounded>term).core, (<LengthBounded>term).least, (<LengthBounded>term).most
    return term, 0, None
