"""Trie × machine: which tokens may follow a configuration.

One pass over the trie, without recursion: the configuration at each depth of the present path is
kept in `Scratch`; where a byte leads nowhere, its whole subtree is left out. Configurations inside
a token are not interned; only stack nodes are. A walk that lacks something stands still, and goes
on from there when it has been supplied.

A walk of many nodes releases Python's lock after the first of them. Whoever walks holds the lock of
the tables, so that nobody else uses or extends the machine meanwhile.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

cimport cython

import numpy as np

from maskwright.automaton.leaf.rows cimport DEAD, UNBUILT, Leaves, next_leaf
from maskwright.automaton.machine.machine cimport Machine as ByteMachine
from maskwright.automaton.machine.step cimport (
    PENDING,
    REQUEST_ROW,
    TOO_MANY,
    Machine,
    MachineArrays,
    Place,
    advance,
    ask,
    gate_open,
    is_accepting,
    lacks_something,
    leave,
    take_bytes,
)
from maskwright.mask.walk.row_table cimport Addition, Ready, RowTable
from maskwright.native cimport BUILT_FROM, const_int64s, const_uint8s, int32s
from maskwright.native import require_built
from maskwright.vocab.bits cimport ones
from maskwright.vocab.trie cimport (
    CLASSES,
    Siblings,
    SiblingTrie,
    bytes_of_children,
    class_of,
    leavings_before,
    twin_of,
)

require_built(__name__, BUILT_FROM)

cdef enum:
    # Trie nodes that are visited before Python's lock is released: some 100 microseconds. To take
    # it back may take longer where other threads are busy.
    SHORT = 1 << 13
    # The logarithm of how many nodes whose tokens are allowed as a whole take as long as a visit.
    NODES_AT_ONCE = 3


cdef class Scratch:
    def __cinit__(self, int32_t height, int32_t words):
        self.height, self.words = height, words
        self.depths = <Depth *>calloc(height + 2, sizeof(Depth))
        self.state.row.added = <int32_t *>calloc(words + 1, sizeof(int32_t))
        self.state.row.touched = <int32_t *>calloc(words + 1, sizeof(int32_t))
        if (
            self.depths is NULL or self.state.row.added is NULL or self.state.row.touched is NULL
        ):
            raise MemoryError

    def __dealloc__(self):
        free(self.depths)
        free(self.state.row.added)
        free(self.state.row.touched)

    @property
    def visited(self):
        return self.state.visited

    @property
    def most_needed(self):
        return self.state.most_needed

    @property
    def listed(self):
        return self.state.listed


cdef class Spelling:
    def __init__(self, spellings, eos):
        self.data = np.frombuffer(b"".join(spellings), np.uint8)
        self.start = np.cumsum([0, *map(len, spellings)], dtype=np.int64)
        self.eos = np.array(eos, np.int64)
        self.bytes_ = const_uint8s(self.data)
        self.starts = const_int64s(self.start)
        self.ends = const_int64s(self.eos)
        self.size = len(spellings)
        self.end_tokens = len(self.eos)


cdef class UpperBounds:
    def __init__(self):
        self.array = np.full(256, -1, np.int32)
        self.c, self.size = int32s(self.array), 256

    def __getitem__(self, int32_t at):
        if at < 0:
            raise IndexError(f"there is no bound {at}")
        return self.c[at] if at < self.size else -1

    def __setitem__(self, int32_t at, int32_t bound):
        if at < 0:
            raise IndexError(f"there is no bound {at}")
        while at >= self.size:
            self.array = np.concatenate([self.array, np.full_like(self.array, -1)])
            self.c, self.size = int32s(self.array), <int32_t>len(self.array)
        self.c[at] = bound


@cython.no_gc  # it refers to rows and their tries
cdef class PrecomputedMask:
    def __init__(self, Ready ready, tuple rests not None, skipped, int32_t leaf=DEAD):
        self.ready, self.rests, self.skipped, self.leaf = ready, rests, skipped, leaf
        if skipped is not None:
            if len(skipped) != 768:
                raise ValueError(f"768 bytes say what is skipped, not {len(skipped)}")
            self.skip = const_uint8s(skipped)


NOTHING = PrecomputedMask(None, (), None)


cdef class Walk:
    def __init__(
        self,
        MachineArrays machine not None,
        RowTable rows not None,
        SiblingTrie trie not None,
        Spelling spelling not None,
        Scratch scratch not None,
        UpperBounds leaf_bounds not None,
        UpperBounds node_bounds not None,
    ):
        if scratch.words != rows.words or trie.c.tokens > 32 * rows.words:
            raise ValueError("rows, scratch and trie are of different vocabularies")
        self.machine, self.rows, self.trie, self.spelling = machine, rows, trie, spelling
        self.scratch, self.leaf_bounds, self.node_bounds = scratch, leaf_bounds, node_bounds

    cpdef int32_t find_row(
        self,
        int32_t leaf,
        int32_t node,
        PrecomputedMask known,
        int32_t limit,
        bint resumed,
        int32_t[:, ::1] found,
    ) except -2:
        cdef State *state = &self.scratch.state
        cdef Machine *machine = &self.machine.c
        cdef Depth *first = self.scratch.depths
        cdef SiblingTrie rest
        cdef Task task
        cdef int32_t number
        cdef Py_ssize_t end
        cdef bint accepting
        if known is None:
            raise TypeError("a walk needs a precomputed mask")
        self.machine.check(leaf, node)
        if leaf == DEAD:
            raise IndexError("there is no row at the end of a text")
        if found is not None and (found.shape[0] != 3 or found.shape[1] < self.trie.c.tokens):
            raise ValueError(f"{self.trie.c.tokens} tokens are listed in three rows")
        task.machine, task.depths, task.state = machine, self.scratch.depths, state
        task.leaf_bounds, task.node_bounds = self.leaf_bounds.c, self.node_bounds.c
        task.leaves_bounded, task.nodes_bounded = self.leaf_bounds.size, self.node_bounds.size
        task.limit = limit
        task.listed = &found[0, 0] if found is not None and found.shape[1] else NULL
        task.stride = found.shape[1] if found is not None else 0
        task.trie, task.skip = &self.trie.c, known.skip
        if not resumed:
            if known.leaf != DEAD and limit == UNMEASURED and task.listed is NULL:
                self.machine.check(known.leaf, node)
                self.begin(known.leaf, node, known)
            else:
                self.begin(leaf, node, known)
        if state.phase == WALKING:
            if not _walk_to_the_end(&task):
                return PENDING
            state.phase, state.rested = RESTING, 0
        while state.rested < len(known.rests):
            rest = known.rests[state.rested]
            task.trie, task.skip = &rest.c, NULL
            if state.depth < 0:  # it begins
                state.depth = 0
                first.cursor, first.stop = 0, rest.c.roots
                first.present = rest.c.present[0]
            if not _walk_to_the_end(&task):
                return PENDING
            state.rested += 1
        accepting = is_accepting(machine, leaf, node)
        if lacks_something(machine):
            return PENDING
        if accepting:
            for end in range(self.spelling.end_tokens):
                _add(&state.row, <int32_t>self.spelling.ends[end])
        number = self.rows.find(&state.row)
        _clear(&state.row)
        return number

    def supplied_row(
        self,
        int32_t leaf,
        int32_t node,
        PrecomputedMask known not None,
        int32_t limit,
        bint stopped,
        int32_t[:, ::1] found,
        ByteMachine machine not None,
        bound,
    ):
        cdef Machine *c = &self.machine.c
        cdef int32_t number = PENDING
        if machine.arrays is not self.machine:
            raise ValueError("the walk is one of another machine")
        if not stopped:
            number = self.find_row(leaf, node, known, limit, False, found)
        while number == PENDING:
            if c.requests and c.pending[0].second in (LEAF_NEED, NODE_NEED):
                bound(c.pending[0].first, c.pending[0].second)
            else:
                machine.serve_requests()
            self.machine.forget()
            number = self.find_row(leaf, node, known, limit, True, found)
        return number

    cdef int begin(self, int32_t leaf, int32_t node, PrecomputedMask known) except -1:
        """Begin a walk at a configuration."""
        cdef State *state = &self.scratch.state
        cdef Depth *first = self.scratch.depths
        cdef int32_t at
        _clear(&state.row)  # an error stopped the last walk
        first.chain[0] = Passing(leaf, node, 0)
        first.known = 1
        first.cursor, first.stop, first.places = 0, self.trie.c.roots, NULL
        first.present = self.trie.c.present[0]
        for at in range(4):
            first.living[at] = 0
        for at in range(MEMO):
            state.left[at].key = -1
            state.steps[at].leaf = -1
        state.row.base, state.row.fingerprint = NULL, 0
        if known.ready is not None:
            state.row.base, state.row.fingerprint = known.ready.words, known.ready.fingerprint
        state.phase = WALKING
        state.depth = 0
        state.visited = 0
        state.most_needed = 0
        state.listed = 0
        state.skipped_part = 0
        return 0

    cpdef int64_t take_token(self, int32_t leaf, int32_t node, int32_t token) except -2:
        cdef Spelling texts = self.spelling
        self.machine.check(leaf, node)
        if not 0 <= token < texts.size:
            raise IndexError(f"there is no token {token}")
        return take_bytes(
            &self.machine.c,
            leaf,
            node,
            texts.bytes_ + texts.starts[token],
            texts.starts[token + 1] - texts.starts[token],
        )

    def read_endings(
        self,
        int32_t leaf,
        int32_t node,
        const int32_t[::1] tokens,
        Py_ssize_t first,
        int32_t[::1] lengths,
    ):
        cdef Machine *machine = &self.machine.c
        cdef Spelling texts = self.spelling
        cdef Py_ssize_t at
        cdef int64_t start
        cdef int32_t token
        self.machine.check(leaf, node)
        if lengths.shape[0] != tokens.shape[0] or first < 0:
            raise ValueError(f"{tokens.shape[0]} tokens have {lengths.shape[0]} lengths")
        for at in range(first, tokens.shape[0]):
            token = tokens[at]
            if not 0 <= token < texts.size:
                raise IndexError(f"there is no token {token}")
            start = texts.starts[token]
            advance(machine, leaf, node, texts.bytes_ + start, texts.starts[token + 1] - start)
            if lacks_something(machine):
                return at
            ends = machine.stopped and machine.stop_node == node
            lengths[at] = <int32_t>machine.bytes_read if ends else 0
        return tokens.shape[0]


# What a walk reads and writes, for code that runs without Python's lock.
cdef struct Task:
    Machine *machine
    const Siblings *trie
    # By byte, NULL or as `PrecomputedMask.skipped`.
    const uint8_t *skip
    Depth *depths
    State *state
    # UpperBounds in bytes on leaving a leaf, and on completing the text after its leaf; -1 if not
    # computed yet.
    const int32_t *leaf_bounds
    const int32_t *node_bounds
    int32_t leaves_bounded
    int32_t nodes_bounded
    int32_t limit
    # [3, stride], or NULL where no tokens are listed.
    int32_t *listed
    Py_ssize_t stride


cdef enum Outcome:
    LACKING
    PAUSED
    DONE


cdef void _add(Addition *row, int32_t token) noexcept nogil:
    """Allow a token."""
    cdef int32_t word = token >> 5
    if row.added[word] == 0:
        row.touched[row.words] = word
        row.words += 1
    row.added[word] |= <int32_t>(<uint32_t>1 << (token & 31))


cdef void _clear(Addition *row) noexcept nogil:
    """Forget what has been added."""
    cdef int32_t at
    for at in range(row.words):
        row.added[row.touched[at]] = 0
    row.words = 0


cdef bint _walk_to_the_end(Task *task) noexcept:
    """Walk on; False if something is missing."""
    cdef Outcome outcome = _walk(task, SHORT)
    if outcome == PAUSED:
        with nogil:
            outcome = _walk(task, 1 << 62)
    return outcome == DONE


cdef Passing _left(Task *task, Passing here) noexcept nogil:
    """The configuration after leaving a leaf, as `leave` finds it, and which dynamic exits have
    then been passed.

    The exits of one walk are remembered, as if no dynamic exit had been passed before.
    """
    cdef Machine *machine = task.machine
    cdef int32_t label = machine.leaves.label[here.leaf]
    cdef int64_t key = (<int64_t>label << 32) | here.node
    cdef Left *left = &task.state.left[
        (<int64_t>label * 0x9E37 + <int64_t>here.node * 0x85EB) & (MEMO - 1)
    ]
    cdef Passing behind
    cdef Place place
    if left.key == key:
        behind = left.behind
    else:
        machine.passed = 0
        place = leave(machine, here.leaf, here.node)
        behind = Passing(place.leaf, place.node, machine.passed)
        if not lacks_something(machine):
            left.key, left.behind = key, behind
    if here.passed and behind.passed:
        machine.passed = here.passed
        leave(machine, here.leaf, here.node)
        behind.passed = machine.passed
    if not behind.passed:
        behind.passed = here.passed
    return behind


cdef const Step *_step(Task *task, int32_t leaf, int32_t target) noexcept nogil:
    """The bytes with which a leaf state, whose row is built, goes on to `target`."""
    cdef Step *step = &task.state.steps[(leaf ^ target * 0x9E37) & (MEMO - 1)]
    cdef int32_t byte
    if step.leaf != leaf or step.target != target:
        step.leaf, step.target, step.classes = leaf, target, (<uint64_t>1 << CLASSES) - 1
        step.low = step.high = 0
        for byte in range(256):
            if next_leaf(task.machine.leaves, leaf, <uint8_t>byte) != target:
                step.classes &= ~(<uint64_t>1 << class_of(<uint8_t>byte))
            elif byte < 64:
                step.low |= <uint64_t>1 << byte
            elif byte < 128:
                step.high |= <uint64_t>1 << (byte - 64)
    return step


cdef inline bint _runs(Task *task, int32_t leaf, int32_t target) noexcept nogil:
    """Whether a leaf state goes on to `target` with all characters of the run that tokens leave."""
    cdef const Step *step = _step(task, leaf, target)
    return not (task.trie.run_low & ~step.low or task.trie.run_high & ~step.high)


cdef inline bint _runs_in_circles(Task *task, int32_t leaf) noexcept nogil:
    """Whether a leaf state is reached again with all characters of the run that tokens leave."""
    cdef const Leaves *leaves = task.machine.leaves
    return leaves.base[leaf] != UNBUILT and not leaves.eager[leaf] and _runs(task, leaf, leaf)


cdef int64_t _add_below(Task *task, int32_t node) noexcept nogil:
    """Allow all tokens below a node of the trie. Returns how many nodes are there."""
    cdef const Siblings *trie = task.trie
    cdef int64_t count = trie.below[node] >> CLASSES, at
    cdef int32_t token
    for at in range(trie.first[node], trie.first[node] + count):
        token = trie.token[at]
        while token >= 0:
            _add(&task.state.row, token)
            token = twin_of(&trie.twins, token)
    return count


cdef inline int32_t _next_living(const Depth *level, int32_t at, uint8_t byte) noexcept nogil:
    """The next of the siblings whose byte is not dead, after the one `at` with this byte; `stop` if
    there is none."""
    cdef int32_t word = byte >> 6
    cdef uint64_t present = level.present[word] & ~((<uint64_t>2 << (byte & 63)) - 1), living
    at += 1
    while True:
        living = present & level.living[word]
        if living:
            return at + ones(present & ((living & -living) - 1))
        at += ones(present)
        word += 1
        if word == 4:
            return level.stop
        present = level.present[word]


cdef Outcome _walk(Task *task, int64_t most) noexcept nogil:
    """Walk on from where the state stands, and pause after `most` nodes."""
    cdef Machine *machine = task.machine
    cdef const Leaves *leaves = machine.leaves
    cdef const Siblings *trie = task.trie
    cdef State *state = task.state
    cdef bint measured = task.limit != UNMEASURED
    cdef bint whole = not measured and task.listed is NULL
    cdef bint waiting = False, doubtful, again = False
    cdef int64_t visited = 0
    cdef int32_t depth = state.depth, at, stop, known, row, down, token, target, need, override, link
    cdef int32_t trie_node
    cdef uint8_t byte
    cdef uint64_t living[4]
    cdef uint64_t bit
    cdef Depth *level
    cdef Passing here, alive
    cdef Place place
    while depth >= 0:
        if visited >= most:
            state.depth = depth
            state.visited += visited
            return PAUSED
        level = &task.depths[depth]
        at, stop, known = level.cursor, level.stop, level.known
        down = -1
        while known > 0:  # the leaf itself, then what can be reached by leaving it
            here = level.chain[known - 1]
            row = leaves.base[here.leaf]
            if row == UNBUILT:
                ask(machine, here.leaf, REQUEST_ROW)
                waiting = True
                break
            living = leaves.living[row]
            for override in range(
                leaves.override_start[here.leaf], leaves.override_stop[here.leaf]
            ):
                byte = leaves.override_byte[override]
                bit = (<uint64_t>1) << (byte & 63)
                if leaves.override_next[override] == DEAD:
                    living[byte >> 6] &= ~bit
                else:
                    living[byte >> 6] |= bit
            level.living[0] |= living[0]
            level.living[1] |= living[1]
            level.living[2] |= living[2]
            level.living[3] |= living[3]
            if known == CHAIN or leaves.label[here.leaf] == 0:
                known = -known
                break
            here = _left(task, here)
            if lacks_something(machine):
                waiting = True
                break
            if here.leaf == DEAD or here.passed >= TOO_MANY:
                known = -known
                break
            level.chain[known] = here
            known += 1
        while at < stop and not waiting:
            trie_node = at if level.places is NULL else level.places[at]
            byte = trie.byte[trie_node]
            if not (level.living[byte >> 6] >> (byte & 63)) & 1:
                at = at + 1 if level.present is NULL else _next_living(level, at, byte)
                continue
            visited += 1
            if (
                task.skip is not NULL
                and depth < 2
                and task.skip[byte + (state.skipped_part if depth else 0)]
            ):
                at += 1
                continue
            target = DEAD
            for link in range(-known):
                here = level.chain[link]
                target = leaves.targets[leaves.base[here.leaf]][byte]
                for override in range(
                    leaves.override_start[here.leaf], leaves.override_stop[here.leaf]
                ):
                    if leaves.override_byte[override] == byte:
                        target = leaves.override_next[override]
                if target != DEAD and not gate_open(machine, target, here.node):
                    target = DEAD
                if target != DEAD:
                    break
            if target == DEAD:
                at += 1
                continue
            here.leaf = target
            if leaves.eager[target]:
                machine.passed = here.passed
                place = leave(machine, target, here.node)
                here = Passing(place.leaf, place.node, machine.passed)
                if lacks_something(machine):
                    waiting = True
                    break
                if here.leaf == DEAD or here.passed >= TOO_MANY:
                    at += 1  # each token below would be refused on its own where TOO_MANY passed
                    continue
            token = trie.token[trie_node]
            if token >= 0:
                alive = here
                while (
                    alive.leaf != DEAD
                    and leaves.label[alive.leaf] != 0
                    and leaves.base[alive.leaf] <= 0
                ):
                    if leaves.base[alive.leaf] == UNBUILT:
                        ask(machine, alive.leaf, REQUEST_ROW)
                        break
                    if leaves.override_start[alive.leaf] != leaves.override_stop[alive.leaf]:
                        break  # more of it may be read
                    alive = _left(task, alive)
                    if lacks_something(machine):
                        break
                if lacks_something(machine):
                    waiting = True
                    break
                if alive.passed >= TOO_MANY:
                    alive.leaf = DEAD
                doubtful = task.listed is not NULL
                if measured and alive.leaf != DEAD:
                    if alive.leaf >= task.leaves_bounded or task.leaf_bounds[alive.leaf] < 0:
                        ask(machine, alive.leaf, LEAF_NEED)
                        waiting = True
                        break
                    if alive.node >= task.nodes_bounded or task.node_bounds[alive.node] < 0:
                        ask(machine, alive.node, NODE_NEED)
                        waiting = True
                        break
                    need = task.leaf_bounds[alive.leaf] + task.node_bounds[alive.node]
                    state.most_needed = max(state.most_needed, need)
                    doubtful = doubtful and need > task.limit
                while alive.leaf != DEAD and token >= 0:
                    _add(&state.row, token)
                    if doubtful:
                        task.listed[state.listed] = token
                        task.listed[task.stride + state.listed] = alive.leaf
                        task.listed[2 * task.stride + state.listed] = alive.node
                        state.listed += 1
                    token = twin_of(&trie.twins, token)
            if trie.children[trie_node] > 0:
                # Whether the configuration is the same as before, by the leaf's own row.
                again = (
                    link == 0
                    and here.leaf == level.chain[0].leaf
                    and here.node == level.chain[0].node
                    and here.passed == level.chain[0].passed
                )
                if again and whole and not (
                    trie.below[trie_node]
                    & ((<uint64_t>1 << CLASSES) - 1)
                    & ~_step(task, here.leaf, target).classes
                ):
                    visited += _add_below(task, trie_node) >> NODES_AT_ONCE
                    at += 1
                    continue
                down = trie_node
                if depth == 0:
                    state.skipped_part = 256 if byte == 0x20 else 512
                task.depths[depth + 1].chain[0] = here
                at += 1
                break
            at += 1
        level.known = known
        level.cursor = at
        visited += 1
        if waiting:
            break
        if down >= 0:
            depth += 1
            level = &task.depths[depth]
            if again:  # the configuration above, which is known
                memcpy(level.chain, task.depths[depth - 1].chain, sizeof(level.chain))
                memcpy(level.living, task.depths[depth - 1].living, sizeof(level.living))
                level.known = known
            else:
                level.known = 1
                level.living[0] = level.living[1] = level.living[2] = level.living[3] = 0
            level.cursor = trie.first[down]
            if trie.leaving is not NULL and trie.inside[down] and (
                _runs(task, level.chain[0].leaf, target)
                if again
                else _runs_in_circles(task, level.chain[0].leaf)
            ):
                level.places, level.present = trie.leaving, NULL
                level.stop = leavings_before(trie, level.cursor + (trie.below[down] >> CLASSES))
                level.cursor = leavings_before(trie, level.cursor)
            else:
                level.places, level.present = NULL, bytes_of_children(trie, down)
                level.stop = level.cursor + trie.children[down]
        else:
            depth -= 1
    state.depth = depth
    state.visited += visited
    return LACKING if waiting else DONE
