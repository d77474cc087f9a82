"""Reading a name by counting; see `plain_reader.pyi`. Sets are bits of ints of any size."""

from libc.stdint cimport uint8_t, uint64_t

cimport cython

from maskwright.automaton.json.bit_sets import bits_of, numbers_in
from maskwright.automaton.value.level import ObjectLevel, Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.garbage cimport hide
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    alt,
    complement,
    intersection,
    tagged,
    word_list,
    word_slice,
    words,
)
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef object ANY_NAME = ANYTHING, NONE = EMPTY, OBJECT_LEVEL = ObjectLevel
cdef object ONE = 1  # an int of Python, which may be shifted as far as need be


@cython.no_gc  # nor does a shape refer to itself
cdef class PlainShape:
    def __init__(
        self, shape, order, possible, bint others, remembered, tuple some=(), read=frozenset()
    ):
        cdef dict index
        cdef Py_ssize_t at
        names = shape.names
        self.shape, self.order, self.possible, self.others = shape, order, possible, others
        self.remembered, self.some = remembered, some
        self.any_order, self.leaves_to_text = order == "any", remembered.leaves_to_text
        self.declared, self.least, self.most = shape.declared, shape.least, shape.most
        self.required = bits_of(shape.required) if shape.required else 0
        self.known = word_list((*names, *read) if read else names)
        if read:
            self.known.whole = False  # it serves one place in one text: it isn't worth keeping
        self.words = self.known.strings
        self.indexes = {name: at for at, name in enumerate(names)}
        index = {word: at for at, word in enumerate(self.words)}
        self.word_of = [index[name] for name in names]
        self.few = len(self.words) <= FEW
        if self.few:
            for at, word in enumerate(self.word_of):
                self.place[at] = <uint8_t><int>word
        self.possible_words = self.sum_of(possible)
        self.languages = {ANY_NAME: 0}
        for language in shape.languages:
            self.languages.setdefault(language, len(self.languages))
        for each in (self.languages, self.word_of):
            hide(each)
        self.values_of_others, self.names_of_others = {}, {}

    def mask(self, members):
        return tuple([bool(members[self.languages[each]]) for each in self.shape.languages])

    def open_names(self, progress):
        cdef PlainReader reader = PlainReader(self, 0, progress, 0)
        return reader.names, reader.others

    def other_value(self, members):
        known = self.values_of_others.get(members)
        if known is None:
            known = self.values_of_others[members] = self.shape.others(self.mask(members))
            hide(self.values_of_others)  # a dictionary is shown when something is put into it
        return known

    def other_names(self, read):
        if not self.some:
            return ANY_NAME
        known = self.names_of_others.get(read)
        if known is None:
            listed = words([*self.shape.names, *read])
            known = intersection(alt(*self.some), complement(listed))
            self.names_of_others[read] = known
        return known

    def with_names(self, read):
        return PlainShape(
            self.shape, self.order, self.possible, self.others, self.remembered, self.some, read
        )

    cdef object term(self, bint others):
        """The term where other names may come, or none."""
        known = self.open_term if others else self.closed_term
        if known is None:
            names = word_slice(self.known) if self.words else NONE
            known = tagged((names, *self.languages) if others else (names, NONE), named=True)
            if others:
                self.open_term = known
            else:
                self.closed_term = known
        return known

    cdef object sum_of(self, names):
        """A set of the shape's names as one of words."""
        cdef uint64_t left, found = 0
        cdef int at = 0
        if self.few:
            left = names
            while left:
                if left & 1:
                    found |= (<uint64_t>1) << self.place[at]
                left >>= 1
                at += 1
            return found
        return bits_of([self.word_of[at] for at in numbers_in(names)])

    cdef object words_of(self, names):
        """A set of names that are possible as one of words."""
        gone = self.possible & ~names
        if gone.bit_count() < names.bit_count():
            return self.possible_words & ~self.sum_of(gone)
        return self.sum_of(names)


@cython.no_gc  # it refers to nothing that refers to it
cdef class PlainReader:
    @classmethod
    def of(cls, threads, plain_shape, Py_ssize_t depth):
        cdef PlainShape plain
        if len(threads) != 1:
            return None
        progress = threads[0].progress
        if progress.candidates or progress.must_equal_one:
            return None
        plain = plain_shape(progress.shape)
        if plain is None or plain.some:
            return None
        if progress.others:
            plain = plain.with_names(progress.others)
        return cls(plain, threads[0].tag, progress, depth)

    def __init__(self, PlainShape plain not None, Py_ssize_t tag, progress, Py_ssize_t depth):
        self.plain, self.tag, self.depth, self._progress = plain, tag, depth, progress
        self.shape, self.position, self.seen = progress.shape, progress.position, progress.seen
        self.count, self.fulfilled, self.read = progress.count, progress.fulfilled, progress.others
        self.candidates, self.must_equal_one = progress.candidates, progress.must_equal_one
        self.forgotten = progress.has_unremembered
        self.find()

    cdef int find(self) except -1:
        """Find out what may come."""
        cdef PlainShape plain = self.plain
        cdef object found, left, needed, here, first, missing, at
        cdef bint others = plain.others
        found = left = plain.possible & ~self.seen
        needed = plain.required & ~self.seen
        self.may_close = self.count >= plain.least and not needed >> self.position
        if not plain.any_order:
            here = -1 << self.position
            left, needed = left & here, needed & here
            first = needed & -needed
            found = left
            if first and not first >> plain.declared:
                found, others = left & (2 * first - 1), False
        if plain.most is not None and self.count + needed.bit_count() >= plain.most:
            found, others = found & needed, False
        if not plain.others and self.count < plain.least and not plain.any_order:
            # A name that comes bars the ones before it, so enough must be left from it on. All that
            # are left are declared: any other name has no value here.
            missing = plain.least - self.count
            found = bits_of(
                [at for at in numbers_in(found) if (left >> at).bit_count() >= missing]
            )
        self.names, self.others = found, others
        self.term = plain.term(others)
        self.words = plain.words
        self.bits = plain.words_of(found)
        return 0

    @property
    def progress(self):
        if self._progress is None:
            self._progress = ObjectProgress(
                self.shape,
                self.position,
                self.seen,
                self.count,
                self.fulfilled,
                self.read,
                self.candidates,
                self.must_equal_one,
                self.forgotten,
            )
        return self._progress

    def key(self, phase, Py_ssize_t shape):
        return OBJECT_LEVEL(
            phase,
            self.depth,
            self.tag,
            shape,
            self.position,
            self.seen,
            self.count,
            self.fulfilled,
            self.read,
            self.candidates,
            self.must_equal_one,
            self.forgotten,
        )

    def index(self, label):
        cdef Py_ssize_t word = label[0]
        return self.plain.indexes.get(self.words[word - 1]) if word else None

    cdef PlainReader another(self):
        """A reader of the same object, whose position, names and count are to be set."""
        cdef PlainReader reader = PlainReader.__new__(PlainReader)
        reader.plain, reader.tag, reader.depth = self.plain, self.tag, self.depth
        reader.shape, reader.fulfilled, reader.read = self.shape, self.fulfilled, self.read
        reader.candidates, reader.must_equal_one = self.candidates, self.must_equal_one
        reader.forgotten = self.forgotten
        return reader

    def reader_after(self, Py_ssize_t at):
        cdef PlainShape plain = self.plain
        cdef PlainReader reader = self.another()
        if plain.any_order:
            reader.position, reader.seen = 0, self.seen | (ONE << at)
        elif at < plain.declared:
            reader.position, reader.seen = at + 1, self.seen
        else:
            reader.position, reader.seen = plain.declared, self.seen | (ONE << at)
        reader.count = min(self.count + 1, max(plain.least, plain.most or 0))
        reader.find()
        return reader

    def reader_after_other(self):
        cdef PlainShape plain = self.plain
        cdef PlainReader reader = self.another()
        reader.seen = self.seen
        reader.position = self.position if plain.any_order else max(self.position, plain.declared)
        reader.count = min(self.count + 1, max(plain.least, plain.most or 0))
        if plain.leaves_to_text and reader.count >= plain.least:
            reader.forgotten = True
        return reader

    def reads_any_other(self, label):
        return self.others and label[0] == 0 and label[1] != 0 and not self.read

    def is_other(self, label):
        word, *members = label
        name = self.words[word - 1] if word else None
        return (
            self.others
            and members[0] != 0
            and name not in self.plain.indexes
            and name not in self.progress.others
        )

    def threads(self, label, text):
        cdef PlainShape plain = self.plain
        progress = self.progress
        word, *members = label
        name = self.words[word - 1] if word else None
        at = plain.indexes.get(name)
        if at is not None:
            if not self.names >> at & 1:
                return ()
            option = next(progress.take(at, plain.order))
        elif not self.others or not members[0] or name in progress.others:
            return ()
        else:
            mask = plain.mask(members)
            option = next(progress.take_other(mask, name if text is None else text, plain.order))
            after = plain.remembered.reduced(option.after)
            return (Thread(self.tag, after, option.value),)
        return (Thread(self.tag, option.after, option.value),)
