cpdef hide(value)
cpdef hide_whole(value)
cpdef hide_group(member, frozenset classes)
cpdef int show(value) except -1
cpdef int show_circles(starts) except -1
