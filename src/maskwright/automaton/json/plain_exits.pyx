"""The exits after the names of plain objects; see `plain_exits.pyi`."""

from libc.stdint cimport int32_t

from maskwright.automaton.json.labels import Closed, Satisfied, StructuralLabel
from maskwright.automaton.json.plain_reader cimport PlainReader
from maskwright.automaton.leaf.keys import ChoiceState
from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.machine.step cimport BLOCKED, DYNAMIC, NO_FRAME, POP, PUSH, STAY
from maskwright.automaton.value.level import LevelPhase
from maskwright.grammar.regular.terms import EMPTY
from maskwright.limits import spend
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef object NEXT = LevelPhase.NEXT, NAME = LevelPhase.NAME
cdef object COMMA = StructuralLabel.COMMA, CLOSE = StructuralLabel.CLOSE
cdef object THE_ONLY = Satisfied((0,)), IS_BLOCKED = Exit(BLOCKED)
cdef object tuple_of = tuple.__new__  # what `Exit` calls, once its arguments are in order


cdef class LevelNumbers:
    def __init__(self):
        self.known, self.owners, self.shapes = [], [], []
        self.gates, self.numbers, self.shape_numbers, self.shapes_by_id = {}, {}, {}, {}

    cpdef int32_t context(self, key, owner) except -1:
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = len(self.known)
            self.known.append(key)
            self.owners.append(owner)
        return known

    def find(self, key):
        return self.numbers.get(key)

    cpdef shape(self, shape):
        known = self.shapes_by_id.get(id(shape))
        if known is not None:
            return (<tuple>known)[0]
        number = self.shape_numbers.setdefault(shape, len(self.shapes))
        if number == len(self.shapes):
            self.shapes.append(shape)
        self.shapes_by_id[id(shape)] = number, shape
        return number


cdef class PlainExits:
    def __init__(self, LevelNumbers numbers not None, owner):
        self.numbers, self.owner = numbers, owner
        self.readers, self.goes_on = {}, {}
        self.starts, self.commas, self.closed = {}, {}, {}
        self.colon = None

    def enter(self, int32_t context, reader, start):
        self.readers[context] = reader, start
        self.numbers.gates[context] = None if reader.others else (reader.bits, len(reader.words))

    def exit(self, int32_t context, label, text):
        cdef PlainReader reader
        known = self.readers.get(context)
        if known is None or type(label) is not tuple:
            return None
        if type((<tuple>known)[0]) is not PlainReader:
            return None
        reader = (<tuple>known)[0]
        at = reader.index(label)
        if at is not None:
            if not reader.names >> at & 1:
                return IS_BLOCKED
            return self.after(reader.shape.values[at], reader.reader_after(at), 0)
        if text is None and reader.reads_any_other(label):
            value = reader.plain.other_value(label[1:])
            return self.after(value, reader.reader_after_other(), DYNAMIC)
        return None

    cdef after(self, value, PlainReader following, int32_t dynamic):
        """The exit after a name, before its value; `following` reads the next name."""
        cdef int32_t frame
        spend()
        if self.colon is None:
            self.colon = self.owner.colon
        above = self.owner.value_alone(value, following.depth)
        shape = self.numbers.shape(following.shape)
        frame = self.numbers.context(following.key(NEXT, shape), self.owner)
        then = () if frame in self.goes_on else self.after_value(frame, following, shape)
        return _exit(PUSH | dynamic, above, self.colon, None, frame, then)

    cdef tuple after_value(self, int32_t frame, PlainReader following, shape):
        """The exits after a member's value; `following` reads the next name."""
        cdef bint goes_on = following.others or following.bits != 0
        cdef int32_t name
        cdef list then
        self.goes_on[frame] = goes_on
        key = goes_on, following.may_close, following.depth
        leaf = self.commas.get(key)
        if leaf is None:
            leaf = self.commas[key] = self.owner.comma_leaf(
                "{", following.depth, goes_on, following.may_close
            )
        then = [(frame, THE_ONLY, _exit(STAY, frame, leaf, None, NO_FRAME, ()))]
        if goes_on:
            name = self.numbers.context(following.key(NAME, shape), self.owner)
            known = self.readers.get(name)
            if known is None:
                self.enter(name, following, self.start(following.term))
                known = self.readers[name]
            after = _exit(STAY, name, (<tuple>known)[1], None, NO_FRAME, ())
            then.append((frame, COMMA, after))
        if following.may_close:
            after = self.closed.get(following.tag)
            if after is None:
                result = Closed(((following.tag, None),))
                after = self.closed[following.tag] = _exit(POP, 0, 0, result, NO_FRAME, ())
            then.append((frame, CLOSE, after))
        return tuple(then)

    cdef start(self, term):
        """The leaf state before the quote of a name."""
        known = self.starts.get(term)
        if known is None:
            owner = self.owner
            choice = ChoiceState(owner.written(term), EMPTY, ())
            known = self.starts[term] = owner.leaves.state(choice)
        return known


cdef _exit(int32_t kind, int32_t context, leaf, result, int32_t frame, tuple then):
    return tuple_of(Exit, (kind, context, leaf, result, frame, then))
