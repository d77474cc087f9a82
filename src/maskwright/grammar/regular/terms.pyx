"""Regular languages over code points as interned terms; see `terms.pyi`."""

from collections.abc import Callable
from functools import partial
from math import inf
from operator import attrgetter
from typing import Any

cimport cython
from libc.stdint cimport int64_t

from maskwright.garbage cimport hide, hide_whole
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.interned cimport Interned, Kept
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

cdef enum:
    # Options of a union that take as long as one step. Fewer take none of their own: whoever asks
    # for the union counts one.
    OPTIONS_A_STEP = 16
    # Options of a union up to which intersections among them are compared.
    MOST_CELLS = 32
    # Parts of an option that are looked at for an end that another option finds anywhere.
    MOST_PARTS = 32
    # Parts before a repeat up to which it is compared with other options' repeats.
    MOST_BEFORE = 8
    # Runs of numbers that are written as repeats.
    MOST_RUNS = 4
    # Numbers in a counting set are smaller.
    MOST_COUNTED = 1 << 16

Moves = Callable[[], Any]

MOST_AT_ONCE = 16_384
LONGEST_ESCAPE = 6
LONGEST_IN_UTF8 = 4

cdef double cheap = CHEAP
cdef object number_of = attrgetter("number")
# Keys hold the numbers of a term's parts, not the parts: a term refers to its derivatives, and a
# derivative whose key referred back to the term would keep both alive for good.
cdef Interned terms = Interned(), lists = Interned()
cdef int64_t made = 0


@cython.trashcan(True)  # a long concatenation is freed without recursion
cdef class Regular(Kept):
    def __cinit__(self):
        global made
        self.number = made
        made += 1


cdef class WordList(Kept):
    def __init__(self, tuple strings not None, bint bare):
        self.strings = strings
        self.bare = bare
        characters = "".join(strings)
        self.ascii = characters.isascii()
        self.whole = (
            self.ascii
            and len(characters) <= MOST_AT_ONCE
            and not (bare and any_needs_escapes(strings))
        )

    @property
    def widest(self):
        if not self.at_most:
            if any_needs_escapes(self.strings):
                self.at_most = LONGEST_ESCAPE
            else:
                self.at_most = 1 if self.ascii else LONGEST_IN_UTF8
        return self.at_most


cdef bint any_needs_escapes(tuple strings) except -1:
    cdef str string
    for string in strings:
        if not string.isprintable() or '"' in string or "\\" in string:
            return True
    return False


cdef class Chars(Regular):
    pass


cdef class Words(Regular):
    pass


cdef class Concat(Regular):
    pass


cdef class Repeat(Regular):
    pass


cdef class Alt(Regular):
    pass


cdef class CountingSet(Regular):
    pass


cdef class Intersection(Regular):
    pass


cdef class ExactlyOne(Regular):
    pass


cdef class LengthBounded(Regular):
    pass


class Scale(Acyclic):
    most: int
    beyond: int
    between: tuple


cdef class Weighed(Regular):
    pass


cdef class Complement(Regular):
    pass


cdef class Empty(Regular):
    pass


cdef class Epsilon(Regular):
    pass


cdef class Loop(Regular):
    pass


cdef class State(Regular):
    pass


cdef class Tagged(Regular):
    pass


cdef class Parallel(Regular):
    pass


cdef Regular begun(Regular term, bint nullable, bint plain):
    term.nullable, term.plain = nullable, plain
    term.live = True if plain else None
    return term


cdef Regular kept(tuple key, Regular term, bint nullable, bint plain):
    begun(term, nullable, plain)
    terms.keep(key, term)
    return term


def alive():
    return len(terms)


cdef tuple numbers_of(tuple parts):
    cdef Regular part
    return hide(tuple([part.number for part in parts]))


cdef tuple ordered(set flat):
    return hide(tuple(sorted(flat, key=number_of)))


cdef bint all_plain(tuple parts):
    cdef Regular part
    for part in parts:
        if not part.plain:
            return False
    return True


cdef bint all_nullable(parts):
    cdef Regular part
    for part in parts:
        if not part.nullable:
            return False
    return True


cdef bint any_nullable(parts):
    cdef Regular part
    for part in parts:
        if part.nullable:
            return True
    return False


EMPTY_TERM = begun(Empty.__new__(Empty), False, True)
EPSILON_TERM = begun(Epsilon.__new__(Epsilon), True, True)
EMPTY_TERM.live = False
EMPTY, EPSILON = EMPTY_TERM, EPSILON_TERM


cpdef Regular chars(tuple ranges):
    cdef Chars term
    if not ranges or (ranges[0][0] >= 0xD800 and ranges[len(ranges) - 1][1] <= 0xDFFF):
        return EMPTY_TERM
    key = (Chars, ranges)
    known = terms.get(key)
    if known is not None:
        return known
    term = Chars.__new__(Chars)
    term.ranges = ranges
    return kept(key, term, False, True)


cdef Chars ANY = chars(charset.EVERY)
ANYTHING_TERM = repeat(ANY)
ANY_CHAR, ANYTHING = ANY, ANYTHING_TERM


def char(str character not None):
    return chars(((ord(character), ord(character)),))


def concat(*parts):
    return chain(parts, EPSILON_TERM)


cdef Regular chain(parts, Regular tail):
    for part in reversed(parts):
        tail = chained(part, tail)
    return tail


cdef Regular chained(Regular head, Regular tail):
    cdef Concat term
    cdef Regular after, rest
    if head is EMPTY_TERM or tail is EMPTY_TERM:
        return EMPTY_TERM
    if head is EPSILON_TERM:
        return tail
    if tail is EPSILON_TERM:
        return head
    if isinstance(head, Concat):
        return chain(sequence(head), tail)
    if isinstance(head, CountingSet):
        return counting_set(
            (<CountingSet>head).body,
            (<CountingSet>head).counts,
            chained((<CountingSet>head).tail, tail),
        )
    if isinstance(head, Repeat):
        after, rest = tail, EPSILON_TERM
        if isinstance(tail, Concat):
            after, rest = (<Concat>tail).head, (<Concat>tail).tail
        if isinstance(after, Repeat) and (<Repeat>after).body is (<Repeat>head).body:
            return chained(summed(<Repeat>head, <Repeat>after), rest)
    key = (Concat, head.number, tail.number)
    known = terms.get(key)
    if known is not None:
        return known
    term = Concat.__new__(Concat)
    term.head, term.tail = head, tail
    return kept(key, term, head.nullable and tail.nullable, head.plain and tail.plain)


cdef Regular summed(Repeat head, Repeat after):
    """r{a,b} r{c,d} = r{a+c,b+d}"""
    most = None if head.most is None or after.most is None else head.most + after.most
    return repeat(head.body, head.least + after.least, most)


cpdef list sequence(Regular term):
    cdef list parts = []
    while isinstance(term, Concat):
        parts.append((<Concat>term).head)
        term = (<Concat>term).tail
    parts.append(term)
    return parts


cpdef Regular repeat(Regular body, least=0, most=None):
    cdef Repeat term, inner
    if most == 0 or body is EPSILON_TERM:
        return EPSILON_TERM
    if body is EMPTY_TERM:
        return EPSILON_TERM if least == 0 else EMPTY_TERM
    if least == 1 and most == 1:
        return body
    if body.nullable:
        least = 0  # (r|ε){m,n} = r{0,n}
    if isinstance(body, Repeat):
        inner = <Repeat>body
        if leaves_no_gap(inner, least, most):
            longest = None if most is None or inner.most is None else most * inner.most
            return repeat(inner.body, least * inner.least, longest)
    key = (Repeat, body.number, least, most)
    known = terms.get(key)
    if known is not None:
        return known
    term = Repeat.__new__(Repeat)
    term.body, term.least, term.most = body, least, most
    return kept(key, term, least == 0 or body.nullable, body.plain)


cdef bint leaves_no_gap(Repeat body, least, most):
    """Whether r{a,b} repeated c to d times is r{ac,bd}: k rounds have ka to kb of `r`, and the
    numbers of k + 1 rounds must follow on them, which they do for all k if they do for the
    first."""
    if least == most:
        return True
    if body.most is None:
        return least > 0 or body.least <= 1
    return (least + 1) * body.least <= least * body.most + 1


def alt(*options):
    return any_of(options)


cdef Regular any_of(options):
    cdef set flat = set()
    cdef tuple ranges = ()
    cdef Py_ssize_t cells = 0, count
    cdef Alt term
    for option in options:
        for each in (<Alt>option).options if isinstance(option, Alt) else (option,):
            if isinstance(each, Chars):
                ranges = charset.union(ranges, (<Chars>each).ranges)
            elif each is not EMPTY_TERM:
                cells += isinstance(each, Intersection)
                flat.add(each)
    if ranges:
        flat.add(chars(ranges))
    if cells and 1 < len(flat) <= MOST_CELLS:
        joined = with_joined_cells(flat)
        if joined != flat:
            return any_of(joined)
    if ANYTHING_TERM in flat:
        return ANYTHING_TERM
    if EPSILON_TERM in flat:
        flat.discard(EPSILON_TERM)
        if not any_nullable(flat):
            flat.add(EPSILON_TERM)
    count = len(flat)
    if count > 1:
        if count > OPTIONS_A_STEP:
            spend(count // OPTIONS_A_STEP)
        flat = with_joined_counters(without_covered(flat))
    if not flat:
        return EMPTY_TERM
    if len(flat) == 1:
        return flat.pop()
    parts = ordered(flat)
    key = (Alt, numbers_of(parts))
    known = terms.get(key)
    if known is not None:
        return known
    term = Alt.__new__(Alt)
    term.options = parts
    return kept(key, term, any_nullable(parts), all_plain(parts))


cdef set without_covered(set flat):
    """Options without those that another covers: any string that ends as `x` is one of `.*x`."""
    cdef set ends = set()
    for option in flat:
        if isinstance(option, Concat) and (<Concat>option).head is ANYTHING_TERM:
            ends.add((<Concat>option).tail)
    return {option for option in flat if not is_covered(option, ends)} if ends else flat


cdef bint is_covered(Regular option, set ends) except -1:
    cdef Regular rest = option
    if isinstance(option, Concat) and (<Concat>option).head is ANYTHING_TERM:
        # Its own end; a later one may be another option's.
        rest = (<Concat>option).tail
        rest = (<Concat>rest).tail if isinstance(rest, Concat) else EMPTY_TERM
    for _ in range(MOST_PARTS):
        if rest in ends:
            return True
        if not isinstance(rest, Concat):
            return False
        rest = (<Concat>rest).tail
    return False


cdef set with_joined_cells(set flat):
    """Options with `x & y` and `x & ~y` joined to `x`, and without those that another covers.
    Patterns that divide all names into cells are few terms again where most cells may come (the
    consensus of Quine, 1955)."""
    cdef dict cells = cells_of(flat)
    cdef Py_ssize_t before = 0
    while before < len(cells) <= MOST_CELLS:
        before = len(cells)
        spend(cheap * before)
        for cell in list(cells):
            for part in cell:
                if isinstance(part, Complement):
                    rest = cell - {part}
                    if rest | {(<Complement>part).body} in cells and rest not in cells:
                        cells[rest] = parts_in_all(set(rest))
    return uncovered_of(cells)


def uncovered(set flat not None):
    return uncovered_of(cells_of(flat)) if 1 < len(flat) <= MOST_CELLS else flat


cdef dict cells_of(set flat):
    """Terms by their parts, as intersections."""
    return {
        frozenset((<Intersection>term).parts if isinstance(term, Intersection) else (term,)): term
        for term in flat
    }


cdef set uncovered_of(dict cells):
    cdef set found = set()
    for cell, term in cells.items():
        for other in cells:
            if other < cell:
                break
        else:
            found.add(term)
    return found


cdef tuple counter_of(Regular term):
    """The first counted repeat in a term, as what comes before it, its body and the tail; and how
    often its body may come, as a pair of bounds or a set of numbers. Empty if there is none near
    the start."""
    if term.counter is None:
        term.counter = hide_whole(find_counter(term))
    return term.counter


cdef tuple find_counter(Regular term):
    cdef list before = []
    cdef Regular tail = EPSILON_TERM
    while isinstance(term, Concat) and not is_counted((<Concat>term).head):
        if len(before) == MOST_BEFORE:
            return ()
        before.append((<Concat>term).head)
        term = (<Concat>term).tail
    if isinstance(term, CountingSet):
        counter = (tuple(before), (<CountingSet>term).body, (<CountingSet>term).tail)
        return counter, (<CountingSet>term).counts
    if isinstance(term, Concat):
        term, tail = (<Concat>term).head, (<Concat>term).tail
    if not is_counted(term):
        return ()
    counter = (tuple(before), (<Repeat>term).body, tail)
    return counter, ((<Repeat>term).least, (<Repeat>term).most)


cdef bint is_counted(Regular term):
    return isinstance(term, Repeat) and (
        (<Repeat>term).most is not None or (<Repeat>term).least > 0
    )


cdef set with_joined_counters(set flat):
    """Options that differ only in how often one part is repeated become one: the derivatives of a
    counted repeat would otherwise pile up, one for each place where it may have begun."""
    cdef dict groups = None, options
    cdef tuple found, before
    cdef Regular body, tail
    for option in flat:
        found = counter_of(option)
        if found:
            if groups is None:
                groups = {}
            groups.setdefault(found[0], {})[option] = found[1]
    if groups is None:
        return flat
    cdef set joined = set(flat)
    for counter, options in groups.items():
        before, body, tail = counter
        if not before and tail in flat:
            options[tail] = 0, 0
        if not before and isinstance(body, Chars):
            once = body if tail is EPSILON_TERM else terms.get((Concat, body.number, tail.number))
            if once in flat:
                options[once] = 1, 1
        if len(options) > 1:
            joined.difference_update(options)
            joined.update(joined_rounds(before, body, tail, options.values()))
    return joined


cdef list joined_rounds(tuple before, Regular body, Regular tail, found):
    """As few terms as say how often the body of a counter may come."""
    cdef list ranges = [], runs, limited, some = []
    counts = 0
    for rounds in found:
        if isinstance(rounds, int):
            counts |= rounds
        else:
            ranges.append(rounds)
    runs = touching(ranges)
    limited = [run for run in runs if run[1] is not None and run[1] < MOST_COUNTED]
    if isinstance(body, Chars) and (counts or len(limited) > MOST_RUNS):
        for least, most in limited:
            counts |= (2 << most) - (1 << least)
        runs = [run for run in runs if run not in limited]
    for least, most in runs:
        some.append(chained(repeat(body, least, most), tail))
    if counts and isinstance(body, Chars):
        for least, most in runs:
            counts &= ((1 << least) - 1) | (0 if most is None else -1 << (most + 1))
        rest = counting_set(body, counts, tail)
        if isinstance(rest, Alt):
            some += (<Alt>rest).options
        elif rest is not EMPTY_TERM:
            some.append(rest)
    return [chain(before, term) for term in some]


cdef list touching(list ranges):
    """The ranges, ascending, with those that overlap or touch as one."""
    cdef list joined = []
    ranges.sort(key=least_of)
    for least, most in ranges:
        last = joined[len(joined) - 1] if joined else None
        if last is None or (last[1] is not None and least > last[1] + 1):
            joined.append((least, most))
        elif last[1] is not None:
            joined[len(joined) - 1] = (last[0], None if most is None else max(most, last[1]))
    return joined


def least_of(rounds):
    return rounds[0]


cpdef Regular counting_set(Chars body, counts, Regular tail):
    cdef CountingSet term
    cdef list options
    if tail is EMPTY_TERM or counts == 0:
        return EMPTY_TERM
    if (counts & ~(counts << 1)).bit_count() <= MOST_RUNS:
        options = []
        at = 0
        while counts >> at:
            least = at + ((counts >> at) & -(counts >> at)).bit_length() - 1
            at = least + (~(counts >> least) & ((counts >> least) + 1)).bit_length() - 1
            options.append(chained(repeat(body, least, at - 1), tail))
        return any_of(options)
    key = (CountingSet, body.number, counts, tail.number)
    known = terms.get(key)
    if known is not None:
        return known
    term = CountingSet.__new__(CountingSet)
    term.body, term.counts, term.tail = body, counts, tail
    return kept(key, term, bool(counts & 1) and tail.nullable, tail.plain)


def intersection(*parts):
    return all_of(parts)


cdef Regular all_of(parts):
    cdef set flat = set()
    cdef list lengths
    cdef Regular core
    cdef tuple bounds
    least, most = 0, None
    for part in parts:
        if isinstance(part, Complement):
            lengths = lengths_besides((<Complement>part).body)
            if lengths:
                core = all_of([other for other in parts if other is not part])
                return any_of([all_of((core, each)) for each in lengths])
        bounds = bounds_of(part)
        if bounds is not None:
            part, low, high = bounds
            least = max(least, low)
            most = high if most is None else most if high is None else min(most, high)
        if isinstance(part, Intersection):
            flat.update((<Intersection>part).parts)
        else:
            flat.add(part)
    core = parts_in_all(flat)
    return core if least == 0 and most is None else length_bounded(core, least, most)


cdef Regular parts_in_all(set flat):
    cdef Intersection term
    flat.discard(ANYTHING_TERM)
    if EMPTY_TERM in flat:
        return EMPTY_TERM
    if not flat:
        return ANYTHING_TERM
    if len(flat) == 1:
        return flat.pop()
    if EPSILON_TERM in flat:
        return EPSILON_TERM if all_nullable(flat) else EMPTY_TERM
    for part in flat:
        if isinstance(part, Words) and (<Words>part).depth == 0:
            flat = sifted(flat)
            if len(flat) == 1:
                return flat.pop()
            break
    for part in flat:
        if isinstance(part, Complement) and (<Complement>part).body in flat:
            return EMPTY_TERM
    parts = ordered(flat)
    key = (Intersection, numbers_of(parts))
    known = terms.get(key)
    if known is not None:
        return known
    term = Intersection.__new__(Intersection)
    term.parts = parts
    return kept(key, term, all_nullable(parts), False)


cdef bint is_list(term):
    return isinstance(term, Words) and (<Words>term).depth == 0


cdef set sifted(set flat):
    """The same parts with all lists of words intersected into one, excluded words removed."""
    cdef list some = [part for part in flat if is_list(part)]
    cdef list barred = [
        part
        for part in flat
        if isinstance(part, Complement) and is_list((<Complement>part).body)
    ]
    cdef bint bare = True
    cdef WordList table = (<Words>some[0]).table
    left = set(table.strings)
    for part in some:
        table = (<Words>part).table
        left.intersection_update(table.strings)
        bare = bare and table.bare
    for part in barred:
        left.difference_update((<Words>(<Complement>part).body).table.strings)
    if not left:
        return {EMPTY_TERM}
    return {*flat.difference(some, barred), word_slice(word_list(left, bare=bare))}


cpdef Regular length_bounded(Regular core, least, most):
    cdef LengthBounded term
    if core is EMPTY_TERM or (most is not None and most < least):
        return EMPTY_TERM
    if core is ANYTHING_TERM:
        return length(least, most)
    if core is EPSILON_TERM or most == 0:
        return EPSILON_TERM if core.nullable and least == 0 else EMPTY_TERM
    if least == 0 and most is None:
        return core
    if is_list(core):
        return of_length(<Words>core, least, inf if most is None else most)
    key = (LengthBounded, core.number, least, most)
    known = terms.get(key)
    if known is not None:
        return known
    term = LengthBounded.__new__(LengthBounded)
    term.core, term.least, term.most = core, least, most
    return kept(key, term, core.nullable and least == 0, False)


cdef Regular of_length(Words core, least, most):
    listed = core.table.strings[core.low : core.high]
    spend(cheap * len(listed))
    kept_ones = [string for string in listed if least <= len(string) <= most]
    if len(kept_ones) == len(listed):
        return core
    return word_slice(word_list(kept_ones, bare=core.table.bare)) if kept_ones else EMPTY_TERM


cpdef Regular weighed(Regular core, room, scale):
    cdef Weighed term
    if core is EMPTY_TERM:
        return EMPTY_TERM
    key = (Weighed, core.number, room, scale)
    known = terms.get(key)
    if known is not None:
        return known
    term = Weighed.__new__(Weighed)
    term.core, term.room, term.scale = core, room, scale
    kept(key, term, core.nullable, False)
    term.live = True
    return term


cpdef Regular complement(Regular body):
    cdef Complement term
    cdef list lengths
    if isinstance(body, Complement):
        return (<Complement>body).body
    if body is EMPTY_TERM:
        return ANYTHING_TERM
    if body is ANYTHING_TERM:
        return EMPTY_TERM
    if isinstance(body, Alt):
        for each in (<Alt>body).options:
            if isinstance(each, Complement):
                return all_of([complement(option) for option in (<Alt>body).options])
    lengths = lengths_besides(body)
    if len(lengths) == 1:
        return lengths[0]
    key = (Complement, body.number)
    known = terms.get(key)
    if known is not None:
        return known
    term = Complement.__new__(Complement)
    term.body = body
    return kept(key, term, not body.nullable, False)


cdef list lengths_besides(Regular body):
    """The lengths that are not those of `body`, if it is no more than a length: fewer characters
    and more. They can be bounds of what its complement is intersected with."""
    cdef list found = []
    if isinstance(body, Repeat) and (<Repeat>body).body is ANY:
        if (<Repeat>body).least:
            found.append(length(0, (<Repeat>body).least - 1))
        if (<Repeat>body).most is not None:
            found.append(length((<Repeat>body).most + 1, None))
    return found


cpdef Regular exactly_one(options, Regular excluded=EMPTY_TERM):
    cdef ExactlyOne term
    cdef set once = set(), twice = set()
    cdef Regular option
    cdef Py_ssize_t nullable = 0
    for option in options:
        if option is not EMPTY_TERM:
            (twice if option in once else once).add(option)
    once -= twice
    if twice:
        excluded = any_of((excluded, *twice))
    if excluded is ANYTHING_TERM or not once:
        return EMPTY_TERM
    if ANYTHING_TERM in once:
        once.discard(ANYTHING_TERM)
        return complement(any_of((excluded, *once)))
    parts = ordered(once)
    if len(parts) == 1:
        option = parts[0]
        return option if excluded is EMPTY_TERM else all_of((option, complement(excluded)))
    key = (ExactlyOne, numbers_of(parts), excluded.number)
    known = terms.get(key)
    if known is not None:
        return known
    for option in parts:
        nullable += option.nullable
    term = ExactlyOne.__new__(ExactlyOne)
    term.options, term.excluded = parts, excluded
    return kept(key, term, nullable == 1 and not excluded.nullable, False)


def words(strings):
    written = [string for string in strings if is_text(string)]
    return word_slice(word_list(written)) if written else EMPTY_TERM


cpdef bint is_text(str string) except -1:
    cdef Py_UCS4 character
    if not string.isascii():
        for character in string:
            if 0xD800 <= character < 0xE000:
                return False
    return True


cpdef WordList word_list(strings, bint bare=False):
    key = (tuple(sorted(set(strings))), bare)
    known = lists.get(key)
    return lists.keep(key, WordList(key[0], bare)) if known is None else known


cpdef Words word_slice(WordList table, Py_ssize_t low=0, high=None, Py_ssize_t depth=0):
    cdef Words term
    cdef Py_ssize_t end = len(table.strings) if high is None else high
    key = (Words, table, low, end, depth)
    known = terms.get(key)
    if known is not None:
        return known
    term = Words.__new__(Words)
    term.table, term.low, term.high, term.depth = table, low, end, depth
    kept(key, term, len(<str>table.strings[low]) == depth, True)
    return term


cpdef Regular tagged(tuple parts, bint named=False):
    cdef Tagged term
    if all_empty(parts):
        return EMPTY_TERM
    key = (Tagged, numbers_of(parts), named)
    known = terms.get(key)
    if known is not None:
        return known
    term = Tagged.__new__(Tagged)
    term.parts, term.named = parts, named
    return kept(key, term, any_nullable(parts), all_plain(parts))


cdef bint all_empty(tuple parts):
    for part in parts:
        if part is not EMPTY_TERM:
            return False
    return True


cpdef Regular parallel(tuple terms_read, tuple parts, tuple ahead=None):
    cdef Parallel term
    if all_empty(parts):
        return EMPTY_TERM
    key = (Parallel, numbers_of(terms_read), numbers_of(parts), ahead)
    known = terms.get(key)
    if known is not None:
        return known
    term = Parallel.__new__(Parallel)
    term.terms, term.parts, term.ahead = terms_read, parts, ahead
    return kept(key, term, any_nullable(parts), True)


cdef hidden(question):
    """A function that is asked for a part of a term. Those of Python itself can't be hidden."""
    return hide_whole(question) if type(question) is partial else question


def loop(tuple key not None, bint nullable, unfold):
    cdef Loop term
    full = (Loop, *key)
    known = terms.get(full)
    if known is not None:
        return known
    term = Loop.__new__(Loop)
    term.unfold = hidden(unfold)
    return kept(full, term, nullable, False)


def state(
    tuple key not None,
    bint nullable,
    moves,
    *,
    bint plain,
    shortest=None,
    to_end=None,
    weight=0,
    equal=None,
    held=None,
):
    cdef State term
    full = (State, *key)
    known = terms.get(full)
    if known is not None:
        return known
    term = State.__new__(State)
    term.moves, term.shortest, term.to_end = hidden(moves), hidden(shortest), to_end
    term.weight, term.equal, term.held = weight, equal, held
    return kept(full, term, nullable, plain)


cpdef Regular length(least, most):
    return repeat(ANY, least, most)


cpdef tuple bounds_of(Regular term):
    if isinstance(term, LengthBounded):
        return (<LengthBounded>term).core, (<LengthBounded>term).least, (<LengthBounded>term).most
    if term is ANY:
        return ANYTHING_TERM, 1, 1
    if isinstance(term, Repeat) and (<Repeat>term).body is ANY:
        return ANYTHING_TERM, (<Repeat>term).least, (<Repeat>term).most
    return None
