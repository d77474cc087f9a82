cpdef hide(value)
cpdef hide_whole(value)
cpdef int show(value) except -1
cpdef int show_circles(starts) except -1
