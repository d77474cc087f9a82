"""Objects that are closed although their schema doesn't say so.

By the specification, a schema with `properties` and without `additionalProperties` allows any other
members. Whoever writes such a schema for a program's answer mostly means none. With
`ParseOptions.closed`, an alternative of objects (all schemas that apply to a value, with one option
of each union) has only the members that it lists, if

- some schema of it has `properties` and says nothing of others, and
- none has an `additionalProperties` or `unevaluatedProperties` that allows others.

Listed are the names in `properties`, in `required`, in the languages of `patternProperties`, and
those that a negation or `dependentRequired` asks for. An alternative that has fewer names than its
`minProperties` asks for stays open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import Properties, SomeMember
from maskwright.grammar.shape.shape import NEVER, Conjunction, ObjectShape
from maskwright.limits import CHEAP, spend


def is_closed(properties: Iterable[Properties]) -> bool:
    """Whether the assertions of one alternative close it, as far as counts allow."""
    said = {each.closes for each in properties}
    return True in said and False not in said


def closed(
    shape: ObjectShape, properties: Sequence[Properties], some: Sequence[SomeMember]
) -> ObjectShape:
    """Return `shape` without the members that its assertions don't list."""
    listed, languages = _listed(shape, some)
    for each in properties:
        languages |= {language for language, _ in each.patterns}
    values = tuple(
        value if name in listed or any(contains(each, name) for each in languages) else NEVER
        for name, value in zip(shape.names, shape.values, strict=True)
    )
    if shape.least > sum(not any(schema.never for schema in value) for value in values):
        return shape
    places = [at for at, each in enumerate(shape.languages) if each in languages]

    def others(mask: tuple[bool, ...]) -> Conjunction:
        return shape.others(mask) if any(mask[at] for at in places) else NEVER

    return replace(shape, values=values, others=others)


def _listed(shape: ObjectShape, some: Sequence[SomeMember]) -> tuple[set[str], set[Regular]]:
    """The names and languages that an alternative lists. A requirement that is met because a name
    is absent, which isn't listed, asks for no other name."""
    listed = {name for at, name in enumerate(shape.names) if at < shape.declared}
    listed |= {shape.names[at] for at in shape.required}
    languages: set[Regular] = set()
    waiting = list(some)
    while asking := [each for each in waiting if listed.issuperset(each.absent)]:
        spend(CHEAP * len(waiting))
        for each in asking:
            waiting.remove(each)
            listed |= each.named.keys()
            languages |= {language for language, _ in each.patterns}
    return listed, languages
