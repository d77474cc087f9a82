"""The shape of one schema without unions: nearly every schema is one.

It is what `Shapes` would find by multiplying out unions, in one pass over the assertions. Objects
are found here too if no more is said of them than which members there may be and must be, and how
many.
"""

from collections.abc import Callable

from maskwright.grammar.schema.tree import Assertion
from maskwright.grammar.shape.scalars import NumberOptions
from maskwright.grammar.shape.shape import ObjectShape, Shape

def lone_shape(
    assertions: tuple[Assertion, ...],
    options: NumberOptions,
    objects_of: Callable[[list[Assertion]], ObjectShape | None],
    /,
) -> Shape | None:
    """The values that satisfy all assertions; None if one of them is a union, or has schemas about
    the value. `objects_of`: the objects that satisfy assertions of which more is said."""
