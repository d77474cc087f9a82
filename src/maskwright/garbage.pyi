"""What the collector of garbage needn't look at: most objects that are made for a schema.

A collection looks at every object that may be part of a circle of references, and nearly all of
Python's may: a program with Python's own thresholds spent a quarter of its time in collections
while it met new schemas, up to 0.3 s at once. But circles are rare among terms, schemas and shapes,
and what is in none is freed without the collector. So these objects are hidden from it as they are
made, but for the few that may be in a circle: with a hidden part it would never be freed.
"""

from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")

def hide(value: _T, /) -> _T:
    """Have the collector not look at an object. Returns it; it must not be part of a circle."""

def hide_whole(value: _T, /) -> _T:
    """Have the collector look neither at an object nor at the tuples, dictionaries, frozen sets and
    `Immutable`s within it. Returns the object. None of them must be part of a circle, so they have
    to be new: a schema that refers to itself has been shown with its containers."""

def show(value: object, /) -> None:
    """Have the collector look at an object again, which may be part of a circle from now on."""

def show_circles(starts: Iterable[object]) -> None:
    """Have the collector look at each object that refers to itself, directly or through others of
    its class, and at what it consists of: of `starts`, all of one class, and what they lead to."""

def hide_group(member: _T, classes: frozenset[type], /) -> _T:
    """Hide an object and the dictionaries, lists and sets among its attributes, and in turn those
    of each attribute of one of these `classes`. What is in the containers stays as it is, but for
    the values of a dictionary by names, which are taken for attributes. Members may refer to each
    other in circles, if something else is sure to part them."""
