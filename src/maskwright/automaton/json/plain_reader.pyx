"""Reading a name by counting; see `plain_reader.pyi`. Sets are bits of ints of any size."""

from libc.stdint cimport uint8_t, uint64_t

from maskwright.automaton.json.bit_sets import bits_of, numbers_in
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef object ONE = 1  # an int of Python, which may be shifted as far as need be


cdef class PlainFacts:
    def __init__(self, shape, order, possible, bint others, words, bint leaves_to_text):
        cdef dict index = {word: at for at, word in enumerate(words)}
        self.order, self.any_order = order, order == "any"
        self.possible, self.others = possible, others
        self.leaves_to_text = leaves_to_text
        self.declared, self.least, self.most = shape.declared, shape.least, shape.most
        self.required = bits_of(shape.required)
        self.words = words
        self.word_of = [index[name] for name in shape.names]
        self.few = len(words) <= FEW
        if self.few:
            for at, word in enumerate(self.word_of):
                self.place[at] = <uint8_t><int>word
        self.possible_words = self.sum_of(possible)

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


cdef class PlainReader:
    @classmethod
    def of(cls, threads, plain_shape, Py_ssize_t depth):
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

    def __init__(self, plain, Py_ssize_t tag, progress, Py_ssize_t depth):
        self.plain, self.tag, self.depth, self._progress = plain, tag, depth, progress
        self.facts = plain.facts
        self.shape, self.position, self.seen, self.count, *rest = progress
        self.rest = tuple(rest)
        self.find()

    cdef int find(self) except -1:
        """Find out what may come."""
        cdef PlainFacts facts = self.facts
        cdef object found, left, needed, here, first, missing, at
        cdef bint others = facts.others
        found = left = facts.possible & ~self.seen
        needed = facts.required & ~self.seen
        self.may_close = self.count >= facts.least and not needed >> self.position
        if not facts.any_order:
            here = -1 << self.position
            left, needed = left & here, needed & here
            first = needed & -needed
            found = left
            if first and not first >> facts.declared:
                found, others = left & (2 * first - 1), False
        if facts.most is not None and self.count + needed.bit_count() >= facts.most:
            found, others = found & needed, False
        if not facts.others and self.count < facts.least and not facts.any_order:
            # A name that comes bars the ones before it, so enough must be left from it on. All that
            # are left are declared: any other name has no value here.
            missing = facts.least - self.count
            found = bits_of(
                [at for at in numbers_in(found) if (left >> at).bit_count() >= missing]
            )
        self.names, self.others = found, others
        self.term = self.plain.term(others)
        self.words = facts.words
        self.bits = facts.words_of(found)
        return 0

    @property
    def progress(self):
        if self._progress is None:
            self._progress = ObjectProgress(
                self.shape, self.position, self.seen, self.count, *self.rest
            )
        return self._progress

    def key(self, phase, Py_ssize_t shape):
        return (
            phase, self.depth, self.tag, shape, self.position, self.seen, self.count, *self.rest
        )

    def index(self, label):
        cdef Py_ssize_t word = label[0]
        return self.plain.indexes.get(self.words[word - 1]) if word else None

    def reader_after(self, Py_ssize_t at):
        cdef PlainFacts facts = self.facts
        cdef PlainReader reader = PlainReader.__new__(PlainReader)
        reader.plain, reader.tag, reader.depth, reader.facts = self.plain, self.tag, self.depth, facts
        reader.shape, reader.rest = self.shape, self.rest
        if facts.any_order:
            reader.position, reader.seen = 0, self.seen | (ONE << at)
        elif at < facts.declared:
            reader.position, reader.seen = at + 1, self.seen
        else:
            reader.position, reader.seen = facts.declared, self.seen | (ONE << at)
        reader.count = min(self.count + 1, max(facts.least, facts.most or 0))
        reader.find()
        return reader

    def reader_after_other(self):
        cdef PlainFacts facts = self.facts
        cdef PlainReader reader = PlainReader.__new__(PlainReader)
        reader.plain, reader.tag, reader.depth, reader.facts = self.plain, self.tag, self.depth, facts
        reader.shape, reader.seen = self.shape, self.seen
        reader.position = self.position if facts.any_order else max(self.position, facts.declared)
        reader.count = min(self.count + 1, max(facts.least, facts.most or 0))
        fulfilled, others, candidates, must_equal_one, forgotten = self.rest
        if facts.leaves_to_text and reader.count >= facts.least:
            forgotten = True
        reader.rest = (fulfilled, others, candidates, must_equal_one, forgotten)
        return reader

    def reads_any_other(self, label):
        return self.others and label[0] == 0 and label[1] != 0 and not self.rest[1]

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
        plain, progress = self.plain, self.progress
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
            option = option._replace(after=plain.remembered.reduced(option.after))
        return (Thread(self.tag, option.after, option.value),)
