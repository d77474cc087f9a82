"""The exits after the names of plain objects; see `plain_exits.pyi`."""

from libc.stdint cimport int32_t

from maskwright.automaton.json.labels import Closed, Satisfied, StructuralLabel
from maskwright.automaton.json.plain_reader cimport PlainReader
from maskwright.automaton.leaf.keys import ChoiceState
from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.machine.step cimport BLOCKED, DYNAMIC, NO_FRAME, POP, PUSH, STAY
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.garbage cimport hide
from maskwright.grammar.regular.terms import EMPTY
from maskwright.grammar.shape.shape import target_of
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

cdef object NEXT = LevelPhase.NEXT, NAME = LevelPhase.NAME, FIRST = LevelPhase.FIRST
cdef object VALUE = LevelPhase.VALUE
cdef object COMMA = StructuralLabel.COMMA, CLOSE = StructuralLabel.CLOSE
cdef object SPACE = StructuralLabel.SPACE, OBJECT = StructuralLabel.OBJECT
cdef object ARRAY = StructuralLabel.ARRAY, NOTHING = EMPTY
cdef object THE_ONLY = Satisfied((0,)), IS_BLOCKED = Exit(BLOCKED)
cdef object IS_READ = Exit(POP, result=THE_ONLY)
cdef object OBJECT_PROGRESS = ObjectProgress, ARRAY_PROGRESS = ArrayProgress
cdef object LEVEL = Level, THREAD = Thread, CHOICE = ChoiceState
# Nothing that begins.
cdef tuple NONE_BEGINS = (EMPTY, EMPTY, None, None)
cdef object tuple_of = tuple.__new__  # what `Exit` calls, once its arguments are in order


cdef class LevelNumbers:
    def __init__(self):
        # Levels and shapes lead to no owner.
        self.known, self.owners, self.shapes = hide([]), hide([]), hide([])
        self.gates, self.numbers, self.shape_numbers, self.shapes_by_id = {}, {}, {}, {}
        self.alone, self.commas, self.closed, self.values = set(), {}, {}, {}
        self.colon = self.spaced = None

    cpdef int32_t context(self, key, owner) except -1:
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = len(self.known)
            self.known.append(key)
            self.owners.append(owner)
            if key.phase is NEXT:
                self.gates[known] = None
        return known

    def find(self, key):
        return self.numbers.get(key)

    cpdef int enter_alone(self, int32_t context) except -1:
        self.alone.add(context)
        self.gates[context] = None
        return 0

    def leaves_names_to_text(self, int32_t context):
        known = self.known[context]
        if known.phase is not NAME:
            return False
        if type(known) is LEVEL:
            return known.has_unremembered_names
        return known.has_unremembered

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
    def __init__(self, levels, owner, solver, plain_shape):
        self.numbers, self.owner, self.plain_shape = levels.numbers, owner, plain_shape
        self.alone, self.same, self.scalars = levels.alone, levels.same, levels.scalars
        self.representatives = {}
        self.solver, self.forms = solver, solver.values.shapes
        self.readers, self.goes_on = {}, {}
        self.starts, self.waiting, self.items, self.roots = {}, {}, {}, {}
        self.lines = owner.whitespace.lines

    def enter(self, int32_t context, reader, start):
        self.readers[context] = reader, start
        self.numbers.gates[context] = None if reader.others else (reader.bits, len(reader.words))

    def exit(self, int32_t context, label, text):
        cdef PlainReader reader, following
        cdef tuple then
        read = IS_READ if context in self.numbers.alone else self.roots.get(context)
        if read is not None:
            if label is OBJECT or label is ARRAY:
                return self.open(context, label)
            if label is SPACE:
                return self.begin(context) if read is IS_READ else None
            return read if type(label) is int or (type(label) is Closed and label.tags) else None
        if context in self.items:
            return self.after_item(context, label)
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
            return self.closed(reader.tag)
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

    cdef form(self, value):
        """The normal form of a conjunction."""
        known = self.forms.known.get(value)
        return self.forms.normal_form(value) if known is None else known

    cpdef representative(self, value):
        if not value:  # what may be anything, which nearly every schema has somewhere
            return value
        known = self.representatives.get(value)
        if known is None:
            known = self.representatives[value] = self.find_representative(value)
        return known

    cdef find_representative(self, value):
        cdef bint refers = False
        key = None
        if len(value) == 1:
            (schema,) = value
            key = schema.key
            if key is not None:
                known = self.same.get(key)
                if known is not None:
                    return known
            refers = len(schema.assertions) == 1
        shape = self.form(value)
        known = target_of(value) if refers else value
        if known is not value:
            known = self.representative(known)
        elif not shape.arrays and not shape.objects:
            known = self.scalars.setdefault(hide((shape.strings, shape.scalars)), value)
        if key is not None:
            self.same[key] = known
        return known

    cpdef int32_t value_alone(self, value, Py_ssize_t depth) except -1:
        cdef int32_t context
        value = self.representative(value)
        known = self.alone.get((value, depth))
        if known is not None:
            return known
        thread = THREAD(0, None, value)
        context = self.numbers.context(LEVEL(VALUE, "", (thread,), depth), self.owner)
        self.numbers.enter_alone(context)
        self.alone[hide((value, depth))] = context
        return context

    cdef begin(self, int32_t context):
        """The exit after the space before a value alone, and those with its brackets; None where
        `beginning` has nothing."""
        cdef tuple begun = self.beginning_of(context)
        if begun is None:
            return None
        then = tuple(self.brackets(context, begun))
        return _exit(STAY, context, self.value_leaf(begun), None, NO_FRAME, then)

    cdef open(self, int32_t context, mark):
        """The exit with a bracket with which a value alone begins, and those right behind it."""
        cdef tuple begun = self.beginning_of(context)
        cdef list then = []
        if begun is None:
            return None
        taken = None
        for at, name, each in self.brackets(context, begun):
            if at != context:
                then.append((at, name, each))
            elif name is mark:
                taken = each
        if taken is None:
            return None
        _, within, leaf, *_ = taken
        return _exit(PUSH, within, leaf, None, NO_FRAME, tuple(then))

    def root_leaf(self, int32_t context, read):
        cdef tuple begun = self.beginning_of(context)
        if begun is None:
            return None
        self.roots[context] = read
        self.numbers.gates[context] = None
        return self.value_leaf(begun)

    cdef tuple beginning_of(self, int32_t context):
        """`beginning` of the value alone of a context."""
        if self.lines:
            return None
        known = self.numbers.known[context]
        return self.beginning((<tuple>known.threads)[0].value)

    cdef tuple beginning(self, value):
        """The strings and the other scalars that a value may be, and the array and the object, each
        None if there is none; None where it may be several arrays or several objects."""
        cdef tuple arrays, objects
        shape = self.form(value)
        arrays, objects, strings, scalars = shape.arrays, shape.objects, shape.strings, shape.scalars
        if len(arrays) > 1 or len(objects) > 1:
            return None
        array = arrays[0] if arrays else None
        found = objects[0] if objects else None
        if strings is NOTHING and scalars is NOTHING and len(arrays) + len(objects) == 1:
            if not self.solver.satisfiable(value):
                array = found = None
            return NOTHING, NOTHING, array, found
        if array is not None and not self.solver.can_complete(ArrayProgress.start(array)):
            array = None
        if found is not None and not self.solver.can_complete(OBJECT_PROGRESS(found)):
            found = None
        if not self.is_live(strings):
            strings = NOTHING
        if not self.is_live(scalars):
            scalars = NOTHING
        return strings, scalars, array, found

    cdef list brackets(self, int32_t context, tuple begun):
        """The exits with the brackets of what begins in a context, and those right behind the
        brackets, up to the first name of an object."""
        cdef list found = []
        cdef tuple first
        if begun[3] is not None:
            found = self.opened(context, OBJECT, self.first_name(begun[3]))
        if begun[2] is not None:
            first = self.first_item(begun[2])
            found += self.opened(context, ARRAY, first)
            if len(first) == 3:  # it is a plain array
                if not begun[2].least:
                    found.append((first[0], CLOSE, self.closed(0)))
                item = (<tuple>first[2])[3]
                if item is not None:
                    found += self.opened(first[0], OBJECT, self.first_name(item))
        return found

    cdef list opened(self, int32_t context, mark, tuple first):
        """The exits with a bracket, and after the space behind it; `first`: the context there, and
        the leaf state."""
        within = first[0]
        if self.numbers.spaced is None:
            self.numbers.spaced = self.owner.spaced
        return [
            (context, mark, _exit(PUSH, within, self.numbers.spaced, None, NO_FRAME, ())),
            (within, SPACE, _exit(STAY, within, first[1], None, NO_FRAME, ())),
        ]

    cdef tuple first_name(self, shape):
        """The context of an object before its first name, and the leaf state there."""
        cdef PlainReader reader
        cdef int32_t context
        progress = OBJECT_PROGRESS(shape)
        plain = self.plain_shape(shape)
        if plain is None or plain.some:
            return self.owner.first_name(progress)
        reader = PlainReader(plain, 0, progress, 1)
        context = self.numbers.context(reader.key(FIRST, self.numbers.shape(shape)), self.owner)
        known = self.readers.get(context)
        if known is None:
            term = self.owner.written(reader.term) if reader.bits or reader.others else NOTHING
            marks = (self.owner.closing_brace,) if reader.may_close else ()
            leaf = self.owner.leaves.state(CHOICE(term, NOTHING, marks))
            self.enter(context, reader, leaf)
            return context, leaf
        return context, (<tuple>known)[1]

    # Arrays that may have items, which all satisfy the same, whatever came before

    cdef tuple first_item(self, shape):
        """The context of an array before its first item, the leaf state there, and if it is a plain
        array, what its items may be."""
        cdef tuple begun = None
        cdef int32_t context
        if not (shape.prefix or shape.contains or shape.unique or shape.repeats or shape.most == 0):
            begun = self.beginning(shape.rest)
        if begun is None or begun == NONE_BEGINS:
            return self.owner.first_item(shape)
        context = self.array_at(FIRST, shape, 0)
        self.items[context] = shape, 0, True
        leaf = self.owner.leaf_of_value(
            begun[0], begun[1], begun[3] is not None, begun[2] is not None, not shape.least
        )
        return context, leaf, begun

    cdef int32_t array_at(self, phase, shape, Py_ssize_t index) except -1:
        """The context of a plain array of which `index` items have been read."""
        cdef int32_t context
        thread = THREAD(0, ARRAY_PROGRESS(shape, index))
        context = self.numbers.context(LEVEL(phase, "[", (thread,), 1), self.owner)
        self.numbers.gates[context] = None
        return context

    cdef after_item(self, int32_t context, label):
        """The exit in a plain array: after its first item, after the value of another one, with a
        comma, or with the closing bracket; None where this isn't known here."""
        cdef Py_ssize_t index
        cdef bint is_first
        cdef int32_t above, frame
        cdef tuple begun
        shape, index, is_first = self.items[context]
        if label is CLOSE:
            return self.closed(0) if index >= shape.least else None
        if shape.most is not None and index >= shape.most and type(label) is not Satisfied:
            return None
        if is_first:
            if type(label) is not int and not (type(label) is Closed and label.tags):
                return None
            return self.at_item(shape, self.next_index(shape, index))
        if type(label) is Satisfied:
            return self.at_item(shape, index)
        if label is not COMMA:
            return None
        begun = self.beginning(shape.rest)
        if begun is None:
            return None
        above = self.value_alone(shape.rest, 1)
        index = self.next_index(shape, index)
        frame = self.array_at(NEXT, shape, index)
        self.items[frame] = shape, index, False
        then = ((frame, THE_ONLY, self.at_item(shape, index)),)
        return _exit(PUSH, above, self.value_leaf(begun), None, frame, then)

    cdef at_item(self, shape, Py_ssize_t index):
        """The exit to the comma or bracket after an item, once `index` of them have been read."""
        cdef bint goes_on = shape.most is None or index < shape.most
        cdef bint closes = index >= shape.least
        cdef int32_t context = self.array_at(NEXT, shape, index)
        self.items[context] = shape, index, False
        leaf = self.numbers.commas.get((goes_on, closes, "[", 1))
        if leaf is None:
            leaf = self.owner.comma_leaf("[", 1, goes_on, closes)
        then = ((context, CLOSE, self.closed(0)),) if closes else ()
        return _exit(STAY, context, leaf, None, NO_FRAME, then)

    cdef Py_ssize_t next_index(self, shape, Py_ssize_t index) except -1:
        """How many items have been read after another one, as far as it makes a difference."""
        return index if shape.most is None and index >= shape.least else index + 1

    cdef bint is_live(self, term) except -1:
        live = term.live
        return self.solver.values.is_live(term) if live is None else live

    cdef value_leaf(self, tuple begun):
        """The leaf state before a value alone."""
        key = (begun[0], begun[1], begun[3] is not None, begun[2] is not None)
        known = self.numbers.values.get(key)
        if known is None:
            known = self.numbers.values[hide(key)] = self.owner.leaf_of_value(*key)
        return known

    cdef after(self, value, PlainReader following, int32_t dynamic, bint is_listed):
        """The exit after a name, before its value; `following` reads the next name, once it has
        found out what may come, which it has if the name was listed."""
        cdef int32_t frame
        cdef tuple then
        spend()
        if self.numbers.colon is None:
            self.numbers.colon = self.owner.colon
        above = self.value_alone(value, following.depth)
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
            then.append((frame, CLOSE, self.closed(following.tag)))
        return tuple(then)

    cdef closed(self, Py_ssize_t tag):
        """The exit with the closing bracket of a thread's container."""
        known = self.numbers.closed.get(tag)
        if known is None:
            result = Closed(((tag, None),))
            known = self.numbers.closed[tag] = _exit(POP, 0, 0, result, NO_FRAME, ())
        return known

    cdef start(self, term):
        """The leaf state before the quote of a name."""
        known = self.starts.get(term)
        if known is None:
            owner = self.owner
            choice = CHOICE(owner.written(term), EMPTY, ())
            known = self.starts[term] = owner.leaves.state(choice)
        return known


cdef _exit(int32_t kind, int32_t context, leaf, result, int32_t frame, tuple then):
    return tuple_of(Exit, (kind, context, leaf, result, frame, then))
