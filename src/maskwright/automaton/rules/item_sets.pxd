from libc.stdint cimport int32_t


cdef class ReturnAddress:
    cdef readonly int32_t rule, kernel
    cdef int32_t number


cdef class Place:
    # Where a text stands in a rule: a node, and the counters of the counted loops around it.
    cdef int32_t node, number
    cdef tuple counters
    # Of the innermost loop: the count, and whether it may end here; the other counters.
    cdef object count
    cdef bint may_leave
    cdef tuple outer_counters
    # What can be read there: numbers of symbols, and of the places after them; None until asked.
    cdef list symbols, places
    cdef bint may_end


cdef class RulePosition:
    cdef Place place
    cdef readonly ReturnAddress return_to
    cdef int32_t number


cdef class Item:
    cdef readonly object symbol
    cdef readonly RulePosition after
    cdef int32_t number, symbol_number
    # The rule that is called, -1 for another symbol.
    cdef int32_t called


cdef class Closure:
    cdef readonly dict texts, values, tokens, waiting
    cdef readonly tuple ahead


cdef class Successors:
    cdef readonly int32_t kernel
    cdef readonly frozenset ended
    cdef readonly bint may_end


cdef class Marks:
    # Which numbers have been met in the present round: no set has to be made or emptied.
    cdef int32_t *rounds
    cdef int32_t size, round
    cdef int begin(self) except -1
    cdef int make_room(self, int32_t number) except -1
    cdef bint add(self, int32_t number) noexcept


cdef class Callers:
    # Among the rules that some rules call, directly or through others: who calls whom.
    cdef list rules
    # By rule: the rules that call it with nothing after it, and the rules that it calls so.
    cdef dict above, below
    # The rules after which a caller of them goes on.
    cdef set held


cdef class ItemSets:
    cdef readonly object network
    cdef list follow
    cdef Py_ssize_t most
    # The numbers of symbols, those of texts by their terms; what has been made, by its parts.
    cdef dict symbol_numbers, text_numbers
    cdef dict known_places, known_addresses, known_positions, known_items, known_kernels
    # By number. By position: the items with which its rule goes on, None until asked.
    cdef list symbols, places, positions, items, kernels, closures, following
    # By rule: where it starts.
    cdef list starts
    # By a pair of kernels: the first one with what `BELOW` stands for. By rules: their callers. By
    # items that call: see `begun_by`.
    cdef dict resolved_kernels, known_callers, known_begun
    cdef Marks met_positions, met_addresses, met_items
    # Room for the numbers of items.
    cdef int32_t *numbers
    cdef Py_ssize_t room
    cdef int32_t *make_room(self, Py_ssize_t count) except NULL
    cdef int32_t symbol_number(self, symbol) except -1
    cdef Place place(self, node, counters)
    cdef int find_symbols(self, Place place) except -1
    cdef ReturnAddress address_of(self, int32_t rule, int32_t kernel)
    cdef RulePosition position_at(self, Place place, ReturnAddress return_to)
    cdef Item item_of(self, int32_t symbol, RulePosition after)
    cdef Item check_item(self, Item item)
    cdef RulePosition check_position(self, RulePosition position)
    cdef int32_t check_kernel(self, int32_t kernel) except -1
    cdef int32_t number_of(self, list items, bint limited) except -1
    cdef object rules_around(self, items)
    cdef list lead(self, RulePosition position)
    cpdef int32_t resolved(self, int32_t kernel, int32_t frame) except -1
    cdef Successors reach(self, list stack, kept)
    cdef list undominated(self, list items)
    cdef Closure close(self, int32_t kernel)
    cdef object bytes_after(self, list items)
    cdef Callers callers_of(self, frozenset called)
    cdef list begun_by(self, tuple calls)
    cdef dict returns(self, tuple calls, Callers callers)
    cdef ReturnAddress waiting_for(self, int32_t rule, tuple calls)
    cdef int32_t resolve(self, int32_t kernel, int32_t frame) except -1
    cdef Item returning(self, Item item, int32_t kernel)
