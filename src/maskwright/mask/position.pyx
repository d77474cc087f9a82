"""Positions: configurations with what has been computed about them; see `position.pyi`."""

from libc.stdint cimport int32_t, int64_t

from maskwright.automaton.leaf.rows cimport DEAD, Leaves
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.step cimport PENDING
from maskwright.mask.walk.walk cimport UNMEASURED, PrecomputedMask, Spelling, Walk
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

UNKNOWN = 1 << 60


def unpacked(int64_t packed):
    return Configuration(packed >> 32, packed & 0xFFFFFFFF)


cdef class Position:
    def __init__(self, configuration, excluded=frozenset()):
        self._configuration, self.excluded = configuration, excluded
        self.leaf, self.node = configuration
        self.moves = {}
        self.row = -1
        self.sufficient_budget = UNKNOWN

    @property
    def configuration(self):
        if self._configuration is None:
            self._configuration = Configuration(self.leaf, self.node)
        return self._configuration


cdef object NOTHING_EXCLUDED = frozenset()


cdef class Positions:
    def __init__(self, dict known, Walk walk, dict precomputed, dict known_alike, matter, lock):
        self.known, self.walk = known, walk
        self.precomputed, self.known_alike = precomputed, known_alike
        self.matter, self.lock = matter, lock
        self.by_text = {}

    def at(self, configuration):
        cdef int32_t leaf, node
        leaf, node = configuration
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
        position.moves = {}
        position.row = -1
        position.sufficient_budget = UNKNOWN
        self.added += 1
        return <Position>self.known.setdefault(packed, position)

    def find(self, Position here not None, lacking):
        cdef PrecomputedMask precomputed
        cdef const Leaves *leaves = self.walk.machine.c.leaves
        cdef int32_t number, leaf
        cdef Position alike
        with self.lock:
            if here.row >= 0:
                return
            if here.variant:
                lacking(here, False)
                return
            leaf = leaves.ready_leaf[here.leaf]
            if leaf == 0:
                leaf = here.leaf
                simpler = self.known_alike.get(leaf)
                if simpler is None:
                    lacking(here, False)
                    return
                if simpler != leaf:
                    alike = self.of(simpler, here.node)
                    self.find(alike, lacking)
                    here.row = alike.row
                    return
            precomputed = self.precomputed.get(leaf)
            if precomputed is None:
                lacking(here, False)
                return
            number = self.walk.find_row(here.leaf, here.node, precomputed, UNMEASURED, False, None)
            if number >= 0:
                here.row = number
            else:
                lacking(here, True)

    def after(self, Position here not None, int32_t token):
        cdef Spelling texts = self.walk.spelling
        cdef int64_t target
        cdef int32_t node
        cdef Position following
        if here.by_text is not None or here.leaf == DEAD:
            return None
        if 0 <= token < texts.size and texts.starts[token] == texts.starts[token + 1]:
            return None
        with self.lock:
            target = self.walk.take_token(here.leaf, here.node, token)
            if target == PENDING:
                self.walk.machine.forget()
            if target < 0:
                return None
            node = <int32_t>(target & 0xFFFFFFFF)
            context = self.walk.machine.c.node_context[node]
            by_text = self.by_text.get(context)
            if by_text is None:
                by_text = self.by_text[context] = self.matter(context)
            if by_text:
                return None
            following = here.moves[token] = self.of(<int32_t>(target >> 32), node)
            return following
