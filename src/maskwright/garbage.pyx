"""What the collector of garbage needn't look at; see `garbage.pyi`."""

from cpython.object cimport PyObject, PyTypeObject, visitproc

from maskwright.immutable import Immutable
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef extern from "Python.h":
    bint PyObject_GC_IsTracked(PyObject *)
    bint PyObject_IS_GC(PyObject *)
    bint PyObject_TypeCheck(PyObject *, PyTypeObject *)
    void PyObject_GC_Track(PyObject *)
    void PyObject_GC_UnTrack(PyObject *)
    bint PyDict_CheckExact(PyObject *)
    bint PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **)
    bint PyList_CheckExact(PyObject *)
    bint PyAnySet_CheckExact(PyObject *)
    bint PyUnicode_Check(PyObject *)
    bint PyFrozenSet_CheckExact(PyObject *)
    bint PyTuple_CheckExact(PyObject *)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *)
    PyTypeObject *Py_TYPE(PyObject *)

cdef PyTypeObject *value_class = <PyTypeObject *>Immutable


cdef struct Search:
    PyTypeObject *kind
    void *found  # a list


cpdef hide(value):
    if PyObject_IS_GC(<PyObject *>value):
        PyObject_GC_UnTrack(<PyObject *>value)
    return value


cpdef hide_whole(value):
    hide_within(<PyObject *>value, NULL)
    return value


cpdef hide_group(member, frozenset classes):
    if is_shown(<PyObject *>member):
        PyObject_GC_UnTrack(<PyObject *>member)
    visit(<PyObject *>member, <visitproc>hide_member, <PyObject *>classes)
    return member


cpdef int show(value) except -1:
    show_one(<PyObject *>value)
    return 0


cpdef int show_circles(starts) except -1:
    # Tarjan's search: `lowest` is the earliest of what a node leads to that may lead back to it.
    cdef dict order = {}, lowest = {}
    cdef list path = [], ways = [list(starts)], waiting = []
    cdef list way
    cdef set is_waiting = set()
    while ways:
        way = ways.pop()
        if way:
            node = way.pop()
            ways.append(way)
            if node not in order:
                order[node] = lowest[node] = len(order)
                path.append(node)
                waiting.append(node)
                is_waiting.add(node)
                ways.append(below(node))
            elif node in is_waiting:
                lowest[path[len(path) - 1]] = min(lowest[path[len(path) - 1]], order[node])
            continue
        if not path:
            continue
        node = path.pop()
        if path:
            lowest[path[len(path) - 1]] = min(lowest[path[len(path) - 1]], lowest[node])
        if lowest[node] == order[node]:
            show_component(node, waiting, is_waiting)
    return 0


cdef int show_component(first, list waiting, set is_waiting) except -1:
    """Take the nodes from `first` on, which lead to each other; show them if they do."""
    cdef list component = []
    while True:
        node = waiting.pop()
        is_waiting.discard(node)
        component.append(node)
        if node is first:
            break
    if len(component) > 1 or first in below(first):
        for node in component:
            show_within(<PyObject *>node, NULL)
    return 0


cdef list below(node):
    """The objects of a node's class that it refers to, directly or by values and containers."""
    cdef list found = []
    cdef Search search
    search.kind, search.found = Py_TYPE(<PyObject *>node), <void *>found
    visit(<PyObject *>node, <visitproc>find_within, &search)
    return found


cdef int find_within(PyObject *value, void *given) noexcept:
    cdef Search *search = <Search *>given
    if PyObject_TypeCheck(value, search.kind):
        (<list>search.found).append(<object>value)
    elif is_container(value) or PyObject_TypeCheck(value, value_class):
        visit(value, <visitproc>find_within, search)
    return 0


cdef int hide_within(PyObject *value, void *_) noexcept:
    """Hide an object, and all containers and values within it that aren't hidden."""
    if PyObject_IS_GC(value):
        PyObject_GC_UnTrack(value)
    visit(value, <visitproc>hide_container, NULL)
    return 0


cdef int hide_container(PyObject *value, void *_) noexcept:
    if (is_container(value) or PyObject_TypeCheck(value, value_class)) and is_shown(value):
        hide_within(value, NULL)
    return 0


cdef int hide_member(PyObject *value, void *given) noexcept:
    """Hide an attribute of a member of a group, and what is a member in turn."""
    cdef PyObject *key
    cdef PyObject *item
    cdef Py_ssize_t at = 0
    if not is_shown(value):
        return 0
    if PyDict_CheckExact(value):
        PyObject_GC_UnTrack(value)
        if PyDict_Next(value, &at, &key, &item) and PyUnicode_Check(key):  # the attributes
            visit(value, <visitproc>hide_member, given)
    elif PyList_CheckExact(value) or PyAnySet_CheckExact(value):
        PyObject_GC_UnTrack(value)
    elif <object>Py_TYPE(value) in <frozenset>given:
        hide_group(<object>value, <frozenset>given)
    return 0


cdef int show_within(PyObject *value, void *_) noexcept:
    show_one(value)
    visit(value, <visitproc>show_container, NULL)
    return 0


cdef int show_container(PyObject *value, void *_) noexcept:
    if (is_container(value) or PyObject_TypeCheck(value, value_class)) and not is_shown(value):
        show_within(value, NULL)
    return 0


cdef inline void show_one(PyObject *value) noexcept:
    if PyObject_IS_GC(value) and not PyObject_GC_IsTracked(value):
        PyObject_GC_Track(value)


cdef inline bint is_shown(PyObject *value) noexcept:
    return PyObject_IS_GC(value) and PyObject_GC_IsTracked(value)


cdef inline bint is_container(PyObject *value) noexcept:
    """Whether an object is a container that the collector may look at; there is one empty tuple,
    which it never may."""
    if PyTuple_CheckExact(value):
        return PyTuple_GET_SIZE(value) > 0
    return PyDict_CheckExact(value) or PyFrozenSet_CheckExact(value)


cdef inline void visit(PyObject *value, visitproc call, void *argument) noexcept:
    """Call a function for each object that an object refers to."""
    if PyObject_IS_GC(value) and Py_TYPE(value).tp_traverse != NULL:
        Py_TYPE(value).tp_traverse(value, call, argument)
