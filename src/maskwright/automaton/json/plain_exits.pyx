"""The exits after the names of plain objects; see `plain_exits.pyi`."""

from libc.stdint cimport int32_t

from maskwright.automaton.json.labels import Closed, Satisfied, StructuralLabel
from maskwright.automaton.json.plain_reader cimport PlainReader
from maskwright.automaton.leaf.keys import ChoiceState
from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.machine.step cimport BLOCKED, DYNAMIC, NO_FRAME, POP, PUSH, STAY
from maskwright.automaton.value.level import LevelPhase
from maskwright.grammar.regular.terms import EMPTY
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

cdef object NEXT = LevelPhase.NEXT, NAME = LevelPhase.NAME
cdef object COMMA = StructuralLabel.COMMA, CLOSE = StructuralLabel.CLOSE
cdef object SPACE = StructuralLabel.SPACE
cdef object THE_ONLY = Satisfied((0,)), IS_BLOCKED = Exit(BLOCKED)
cdef object IS_READ = Exit(POP, result=THE_ONLY)
cdef object tuple_of = tuple.__new__  # what `Exit` calls, once its arguments are in order


cdef class LevelNumbers:
    def __init__(self):
        self.known, self.owners, self.shapes = [], [], []
        self.gates, self.numbers, self.shape_numbers, self.shapes_by_id = {}, {}, {}, {}
        self.alone, self.commas, self.closed = set(), {}, {}
        self.colon = self.spaced = None

    cpdef int32_t context(self, key, owner) except -1:
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = len(self.known)
            self.known.append(key)
            self.owners.append(owner)
        return known

    def find(self, key):
        return self.numbers.get(key)

    def enter_alone(self, int32_t context):
        self.alone.add(context)
        self.gates[context] = None

    def leaves_names_to_text(self, int32_t context):
        known = self.known[context]
        if (<tuple>known)[0] is not NAME:
            return False
        if type(known) is not tuple:
            return known.has_unremembered_names
        return (<tuple>known)[len(<tuple>known) - 1]  # a key ends with `has_unremembered`

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
        self.starts, self.waiting = {}, {}

    def enter(self, int32_t context, reader, start):
        self.readers[context] = reader, start
        self.numbers.gates[context] = None if reader.others else (reader.bits, len(reader.words))

    def exit(self, int32_t context, label, text):
        cdef PlainReader reader, following
        cdef tuple then
        if context in self.numbers.alone:
            is_read = type(label) is int or (type(label) is Closed and (<tuple>label)[0])
            return IS_READ if is_read else None
        if type(label) is Satisfied and context in self.waiting:
            following = self.waiting[context]
            following.find()
            then = self.after_value(context, following, self.numbers.shape(following.shape))
            del self.waiting[context]
            leaf = (<tuple>(<tuple>then[0])[2])[2]
            return _exit(STAY, context, leaf, None, NO_FRAME, then[1:])
        known = self.readers.get(context)
        if known is None:
            return None
        if label is SPACE:
            return _exit(STAY, context, (<tuple>known)[1], None, NO_FRAME, ())
        if type((<tuple>known)[0]) is not PlainReader:
            return None
        reader = (<tuple>known)[0]
        if label is CLOSE and reader.may_close:
            return self.close(reader)
        if type(label) is not tuple:
            return None
        at = reader.index(label)
        if at is not None:
            if not reader.names >> at & 1:
                return IS_BLOCKED
            return self.after(reader.shape.values[at], reader.reader_after(at), 0, True)
        if not reader.reads_any_other(label):
            return None
        following = reader.reader_after_other()
        if text is not None and not self.owner.is_left_to_text(following.progress, text):
            return None
        value = reader.plain.other_value(label[1:])
        return self.after(value, following, DYNAMIC if text is None else 0, False)

    cdef after(self, value, PlainReader following, int32_t dynamic, bint is_listed):
        """The exit after a name, before its value; `following` reads the next name, once it has
        found out what may come, which it has if the name was listed."""
        cdef int32_t frame
        cdef tuple then
        spend()
        if self.numbers.colon is None:
            self.numbers.colon = self.owner.colon
        above = self.owner.value_alone(value, following.depth)
        shape = self.numbers.shape(following.shape)
        frame = self.numbers.context(following.key(NEXT, shape), self.owner)
        then = ()
        if frame not in self.goes_on:
            if is_listed:
                then = self.after_value(frame, following, shape)
            else:
                self.waiting[frame] = following
        return _exit(PUSH | dynamic, above, self.numbers.colon, None, frame, then)

    cdef tuple after_value(self, int32_t frame, PlainReader following, shape):
        """The exits after a member's value; `following` reads the next name."""
        cdef bint goes_on = following.others or following.bits != 0
        cdef int32_t name
        cdef list then
        self.goes_on[frame] = goes_on
        leaf = self.numbers.commas.get((goes_on, following.may_close, "{", following.depth))
        if leaf is None:
            leaf = self.owner.comma_leaf("{", following.depth, goes_on, following.may_close)
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
            then.append((frame, CLOSE, self.close(following)))
        return tuple(then)

    cdef close(self, PlainReader reader):
        """The exit with the closing bracket."""
        known = self.numbers.closed.get(reader.tag)
        if known is None:
            result = Closed(((reader.tag, None),))
            known = self.numbers.closed[reader.tag] = _exit(POP, 0, 0, result, NO_FRAME, ())
        return known

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
