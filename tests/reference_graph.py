"""Which objects refer to each other in circles, also where the collector of garbage sees none."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from inspect import isgetsetdescriptor
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any, Final

from msgspec import Struct

LEFT_OUT: Final = (type, ModuleType, BuiltinFunctionType, str, bytes, int, float, NoneType)
"""Classes and modules live as long as the program; the rest refers to nothing."""
HAS_COLLECTOR: Final = 1 << 14
"""`Py_TPFLAGS_HAVE_GC`, the flag of the classes that the collector knows."""


def in_circles(roots: Iterable[object]) -> list[object]:
    """The objects that `roots` lead to and that lead back to themselves."""
    objects, ways = _ways(roots)
    components = _components(ways)
    sizes: dict[int, int] = {}
    for component in components:
        sizes[component] = sizes.get(component, 0) + 1
    return [each for at, each in enumerate(objects) if sizes[components[at]] > 1 or at in ways[at]]


def reached(roots: Iterable[object]) -> list[object]:
    """The objects that `roots` lead to."""
    return _ways(roots)[0]


def _ways(roots: Iterable[object]) -> tuple[list[object], list[list[int]]]:
    """All objects that `roots` lead to, and for each the numbers of the objects it refers to."""
    objects: list[object] = []
    numbers: dict[int, int] = {}

    def number(each: object) -> int:
        known = numbers.setdefault(id(each), len(objects))
        if known == len(objects):
            objects.append(each)
        return known

    for root in roots:
        number(root)
    ways: list[list[int]] = []
    for each in objects:  # which grows
        ways.append([number(to) for to in _referents(each) if not isinstance(to, LEFT_OUT)])
    return objects, ways


def _referents(each: Any) -> list[Any]:
    if isinstance(each, Struct):  # `gc` passes over those that the collector doesn't see
        return [getattr(each, name) for name in each.__struct_fields__]
    if isinstance(each, FunctionType):  # without the module that it is in
        return [each.__closure__, each.__defaults__, each.__kwdefaults__]
    if isinstance(each, MethodType):
        return [each.__self__]
    if type(each).__module__.startswith("maskwright.") and not type(each).__flags__ & HAS_COLLECTOR:
        fields = vars(type(each)).items()
        return [getattr(each, name) for name, field in fields if isgetsetdescriptor(field)]
    return gc.get_referents(each)


def _components(ways: list[list[int]]) -> list[int]:
    """Of each object the number of its strongly connected component, by Tarjan's algorithm."""
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    component = [-1] * len(ways)
    open_: list[int] = []
    found = 0
    for start in range(len(ways)):
        path = [(start, iter(ways[start]))] if start not in order else []
        while path:
            here, rest = path[-1]
            if here not in order:
                order[here] = lowest[here] = len(order)
                open_.append(here)
            for to in rest:
                if to not in order:
                    path.append((to, iter(ways[to])))
                    break
                if component[to] < 0:
                    lowest[here] = min(lowest[here], order[to])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[here])
                if lowest[here] == order[here]:
                    while component[here] < 0:
                        component[open_.pop()] = found
                    found += 1
    return component
