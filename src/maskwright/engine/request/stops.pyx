"""What the states are is said in `stops.pyi`."""

from array import array
from collections import deque

from libc.stdint cimport int32_t

from maskwright.native cimport BUILT_FROM, lower_bound
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef enum:
    BEGIN = 0
    NONE = -1

START = BEGIN


cdef class StopAutomaton:
    def __init__(self, stops):
        cdef list edges = [{}], depths = [0], matches = [0], fail
        for stop in stops:
            _insert(stop, edges, depths, matches)
        fail = _failures(edges, matches)
        begins, characters, targets = array("i", [0]), array("i"), array("i")
        for mine in edges:
            for character in sorted(mine):
                characters.append(ord(character))
                targets.append(mine[character])
            begins.append(len(characters))
        self.edges, self.characters, self.targets = begins, characters, targets
        self.fail, self.depths = array("i", fail), array("i", depths)
        self.matches = array("i", matches)

    def step(self, int state, str character):
        return self.after(state, ord(character))

    def depth(self, int state):
        return self.depths[state]

    def matched(self, int state):
        return self.matches[state]

    cdef int edge(self, int state, Py_UCS4 character) noexcept:
        """The state to which a character leads from a state, by an edge of its own; -1 for none."""
        cdef int at = self.edges[state], end = self.edges[state + 1]
        if at < end:
            at = lower_bound(<int32_t *>&self.characters[0], at, end, character)
        return self.targets[at] if at < end and self.characters[at] == <int>character else NONE

    cdef int after(self, int state, Py_UCS4 character) noexcept:
        cdef int following = self.edge(state, character)
        while following == NONE and state != BEGIN:
            state = self.fail[state]
            following = self.edge(state, character)
        return BEGIN if following == NONE else following

    cdef Py_ssize_t follow(self, int *state, str text) noexcept:
        cdef Py_ssize_t read = 0
        cdef Py_UCS4 character
        for character in text:
            read += 1
            state[0] = self.after(state[0], character)
            if self.matches[state[0]]:
                return read
        return NONE


cdef int _insert(str stop, list edges, list depths, list matches) except -1:
    """Add the states of a stop string."""
    cdef Py_ssize_t state = BEGIN
    cdef object character
    for character in stop:
        following = edges[state].get(character)
        if following is None:
            following = len(edges)
            edges[state][character] = following
            edges.append({})
            depths.append(depths[state] + 1)
            matches.append(0)
        state = following
    matches[state] = len(stop)
    return 0


cdef list _failures(list edges, list matches):
    """The failure links: for each state, that of its longest proper suffix. A state without a match
    of its own inherits the match of its failure link."""
    cdef list fail = [BEGIN] * len(edges)
    queue = deque(edges[BEGIN].values())
    while queue:
        state = queue.popleft()
        for character, following in edges[state].items():
            back = fail[state]
            while back != BEGIN and character not in edges[back]:
                back = fail[back]
            fail[following] = edges[back].get(character, BEGIN)
            queue.append(following)
        matches[state] = matches[state] or matches[fail[state]]
    return fail
