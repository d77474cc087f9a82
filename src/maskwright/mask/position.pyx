"""Positions: configurations with what has been computed about them; see `position.pyi`."""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cython cimport no_gc
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np
from numpy import ndarray

from maskwright.automaton.leaf.keys import PartsEnded
from maskwright.automaton.leaf.rows cimport DEAD, Leaves, next_leaf
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.step cimport DEPENDS_ON_TEXT, PENDING, Machine, take_bytes
from maskwright.errors import whole_number
from maskwright.mask.walk.row_table cimport RowTable
from maskwright.mask.walk.walk import NOTHING
from maskwright.mask.walk.walk cimport UNMEASURED, PrecomputedMask, Spelling, Walk
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.vocab.bits cimport ones

require_built(__name__, BUILT_FROM)

UNKNOWN = 1 << 60



def unpacked(int64_t packed):
    return Configuration(packed >> 32, packed & 0xFFFFFFFF)


# There are tens of thousands, through which a garbage collection would look in vain: whoever lets
# go of positions that lead to each other has them forget that.
@no_gc
cdef class Position:
    def __init__(self, configuration, excluded=frozenset()):
        self._configuration, self.excluded = configuration, excluded
        self.leaf, self.node = configuration.leaf, configuration.node
        self.row = -1
        self.sufficient_budget = UNKNOWN

    @property
    def configuration(self):
        if self._configuration is None:
            self._configuration = Configuration(self.leaf, self.node)
        return self._configuration

    cdef Position known_after(self, int64_t token):
        """See `moved`."""
        if self._first is None:
            return None
        if self._first_token == token:
            return self._first
        return None if self._others is None else self._others.get(token)

    def moved(self, token):
        return self.known_after(token)

    def keep(self, token, Position following not None):
        if self._first is None or self._first_token == token:
            self._first_token, self._first = token, following
        elif self._others is None:
            self._others = {token: following}
        else:
            self._others[token] = following

    def forget(self):
        self._first = self._others = None


cdef object NOTHING_EXCLUDED = frozenset(), NO_ROW = NOTHING, PARTS_ENDED = PartsEnded
cdef const uint8_t *SPACE = b" "
cdef enum:
    BACKSLASH = 92
    # Bytes from which on a walk may be long; as `ready_rows.text_rows.FEWEST` of characters.
    FEWEST = 12


cdef class Positions:
    def __init__(
        self, dict known, Walk walk, dict precomputed, dict known_alike, list labels, matter, lock
    ):
        self.known, self.walk = known, walk
        self.precomputed, self.known_alike, self.labels = precomputed, known_alike, labels
        self.matter, self.lock = matter, lock
        self.by_text = {}

    def at(self, configuration):
        cdef int32_t leaf, node
        leaf, node = configuration.leaf, configuration.node
        return self.of(leaf, node)

    cdef Position of(self, int32_t leaf, int32_t node):
        """The position of a configuration."""
        cdef int64_t packed = (<int64_t>leaf << 32) | <int64_t>node
        cdef Position position
        known = self.known.get(packed)
        if known is not None:
            return <Position>known
        position = Position.__new__(Position)
        position.leaf, position.node, position.excluded = leaf, node, NOTHING_EXCLUDED
        position.row = -1
        position.sufficient_budget = UNKNOWN
        self.added += 1
        return <Position>self.known.setdefault(packed, position)

    def find(self, Position here not None, lacking):
        self.find_row(here, lacking)

    cdef int find_row(self, Position here, lacking) except -1:
        """See `find`."""
        cdef const Leaves *leaves = self.walk.machine.c.leaves
        cdef int32_t leaf
        cdef Position alike
        with self.lock:
            if here.row >= 0:
                return 0
            if here.variant:
                lacking(here, None)
                return 0
            leaf = leaves.ready_leaf[here.leaf]
            if leaf == 0 and self.begins_no_run(here):
                return self.walk_from(here, NO_ROW, lacking)
            if leaf == 0:
                leaf = here.leaf
                simpler = self.known_alike.get(leaf)
                if simpler is None:
                    lacking(here, None)
                    return 0
                if simpler != leaf:
                    alike = self.of(simpler, here.node)
                    self.find_row(alike, lacking)
                    here.row = alike.row
                    return 0
            known = self.precomputed.get(leaf)
            if known is None and leaves.ready_leaf[leaf] == leaf:  # only words may come
                known = self.precomputed[leaf] = NO_ROW
            if known is None:
                lacking(here, None)
                return 0
            self.walk_from(here, known, lacking)
        return 0

    cdef int walk_from(self, Position here, PrecomputedMask precomputed, lacking) except -1:
        """Find a row by a walk."""
        cdef int32_t number
        number = self.walk.find_row(here.leaf, here.node, precomputed, UNMEASURED, False, None)
        if number >= 0:
            here.row = number
        else:
            lacking(here, precomputed)
        return 0

    cdef bint begins_no_run(self, Position here) except -1:
        """Whether a walk is certainly short, so that nothing has to be found out about ready rows:
        few bytes may come, also after a space, and these within no string."""
        cdef Machine *machine = &self.walk.machine.c
        cdef int64_t spaced
        self.walk.machine.check(here.leaf, here.node)
        if not self.is_narrow(here.leaf):
            return False
        spaced = take_bytes(machine, here.leaf, here.node, SPACE, 1)
        if spaced == PENDING:
            self.walk.machine.forget()
        if spaced < 0:
            return spaced != PENDING and spaced != DEPENDS_ON_TEXT
        return self.is_narrow(<int32_t>(spaced >> 32))

    cdef bint is_narrow(self, int32_t leaf) except -1:
        """Whether few bytes may come, all of ASCII, and neither a backslash, as in strings, nor
        another text after one that has ended."""
        cdef const Leaves *leaves = self.walk.machine.c.leaves
        cdef int32_t row = leaves.base[leaf], at, most
        if row < 0:
            return False
        if leaves.living[row][2] or leaves.living[row][3]:
            return False
        most = ones(leaves.living[row][0]) + ones(leaves.living[row][1])
        for at in range(leaves.override_start[leaf], leaves.override_stop[leaf]):
            if leaves.override_byte[at] >= 128:
                return False
            most += 1
        if most >= FEWEST or next_leaf(leaves, leaf, BACKSLASH) != DEAD:
            return False
        return type(self.labels[leaves.label[leaf]]) is not PARTS_ENDED

    def after(self, Position here not None, int32_t token):
        return self.move(here, token)

    def after_every_text(self, Position here not None, const int32_t[::1] tokens not None):
        cdef Py_ssize_t at
        found = np.zeros(tokens.shape[0], np.bool_)
        cdef uint8_t[::1] is_found = found.view(np.uint8)
        with self.lock:
            for at in range(tokens.shape[0]):
                is_found[at] = self.target(here, tokens[at]) >= 0
        return found

    cdef Position move(self, Position here, int32_t token):
        """See `after`."""
        with self.lock:
            return self.moved(here, token)

    cdef Position move_at_once(self, Position here, int32_t token):
        """`move`, but None where another thread uses the machine, which may take it long."""
        if not self.lock.acquire(False):
            return None
        try:
            return self.moved(here, token)
        finally:
            self.lock.release()

    cdef Position moved(self, Position here, int32_t token):
        """`move` while the lock is held."""
        cdef int64_t target = self.target(here, token)
        cdef Position following
        if target < 0:
            return None
        following = self.of(<int32_t>(target >> 32), <int32_t>(target & 0xFFFFFFFF))
        here.keep(token, following)
        return following

    cdef int64_t target(self, Position here, int32_t token) except -2:
        """The configuration after a token, leaf << 32 | node; negative where `after` returns None.
        The lock is held."""
        cdef Spelling texts = self.walk.spelling
        cdef int64_t target
        if here.by_text is not None or here.leaf == DEAD:
            return -1
        if 0 <= token < texts.size and texts.starts[token] == texts.starts[token + 1]:
            return -1
        target = self.walk.take_token(here.leaf, here.node, token)
        if target == PENDING:
            self.walk.machine.forget()
        if target < 0:
            return -1
        context = self.walk.machine.c.node_context[target & 0xFFFFFFFF]
        by_text = self.by_text.get(context)
        if by_text is None:
            by_text = self.by_text[context] = self.matter(context)
        return -1 if by_text else target


cdef object ARRAY = ndarray


cdef class PositionPath:
    def __init__(self, Position first not None, positions, RowTable rows not None, Py_ssize_t size):
        self._path, self._steps = [first], []
        self.positions, self._rows, self.size = positions, rows, size

    cdef Position here(self):
        """Where the text stands."""
        return <Position?>self._path[len(self._path) - 1]

    cdef int move(self, token, Position following) except -1:
        """Accept a token, which leads to `following`."""
        self._path.append(following)
        self._steps.append(token)
        return 0

    cdef Position found_at_once(self, token):
        """The position after a token, if that is known or found in no time."""
        cdef Position here = self.here(), following = here.known_after(token)
        if following is None and self.positions is not None and 0 <= token < self.size:
            return self.positions.move_at_once(here, token)
        return following

    cdef object copied_row(self, Position here):
        """The mask of a position whose row is known, int32 `[words]`."""
        cdef int32_t[::1] words = np.empty(self._rows.words, np.int32)
        self._rows.copy(here.row, &words[0])
        return words.base

    cdef int find(self, Position here) except -1:
        """Find the row of a position."""
        if self.positions is None:
            self._find_lacking(here, None)
        else:
            self.positions.find_row(here, self._find_lacking)
        return 0

    @property
    def row(self):
        cdef Position here = self.here()
        if here.row < 0:
            self.find(here)
        return here.row

    def fill_mask(self, out, budget=None):
        """Write the mask to `out`: bit i of word w (int32, ceil(V/32)) allows token 32*w+i.

        `budget`: the number of tokens that may still come, the next one included. Only tokens are
        allowed after which the text can be completed within it. After an end token nothing is
        allowed.

        Raises `BudgetError` if the budget doesn't suffice for any completion, `ValueError` for an
        array of another type or shape, `InputError` for a budget that is no whole number, and
        `UnspellableError` if `accept_bytes` has led to a place from which no tokens of the
        vocabulary can continue.
        """
        cdef Position here = self.here()
        is_enough = type(budget) is int and budget >= here.sufficient_budget
        if not (budget is None or is_enough) or not self.fill(here, out):
            self._fill(out, budget)

    cdef bint fill(self, Position here, out) except -1:
        """Write the mask of a position to an array of the usual kind; False for other objects."""
        cdef Py_buffer view
        if type(out) is not ARRAY:
            return False
        try:
            PyObject_GetBuffer(out, &view, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
        except (BufferError, ValueError):
            return False
        try:
            if view.ndim != 1 or view.shape[0] != self._rows.words or view.itemsize != 4:
                return False
            if view.format[0] != c"i" or view.format[1] != 0:
                return False
            if here.row < 0:
                self.find(here)
            self._rows.copy(here.row, <int32_t *>view.buf)
        finally:
            PyBuffer_Release(&view)
        return True

    def accept(self, token):
        """Append a token. Returns False, without a change, if the mask doesn't allow it.

        Raises `InputError` for what is no id of the vocabulary.
        """
        cdef Position here = self.here()
        cdef int overflow
        if type(token) is not int:
            token = whole_number(token, "token")
        following = here.known_after(PyLong_AsLongLongAndOverflow(token, &overflow))
        if following is None:
            following = self._after(token)
            if following is None:
                return False
        self.move(token, following)
        return True

    def _after(self, token):
        cdef Position here = self.here(), following
        if self.positions is not None and 0 <= token < self.size:
            following = self.positions.move(here, token)
            if following is not None:
                return following
        return self._after_lacking(token)
