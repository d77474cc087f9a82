cdef class StopAutomaton:
    # Of each state: where its edges begin, the end of the last one's being at the end; the state of
    # its longest proper suffix; its depth; and the length of the stop string that it ends with.
    cdef int[::1] edges, fail, depths, matches
    # Of each edge: its character, in rising order for each state, and the state that it leads to.
    cdef int[::1] characters, targets
    cdef int edge(self, int state, Py_UCS4 character) noexcept
    cdef int after(self, int state, Py_UCS4 character) noexcept
    # Follow a text from a state on, which is moved, up to the end of a stop string. Returns the
    # characters up to there, or -1 where none ends.
    cdef Py_ssize_t follow(self, int *state, str text) noexcept
