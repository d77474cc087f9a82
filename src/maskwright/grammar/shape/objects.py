"""The objects that satisfy assertions without unions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import ANYTHING, Regular, complement, is_text
from maskwright.grammar.schema.tree import (
    Assertion,
    Properties,
    PropertyCount,
    PropertyNames,
    Required,
    Schema,
    SomeMember,
)
from maskwright.grammar.shape.shape import (
    NEVER,
    Conjunction,
    ObjectShape,
    Wanted,
    joined,
    joint_count,
)


def object_shape(
    branch: Iterable[Assertion],
    strings: Callable[[Schema], Regular],
    order: Callable[[], Mapping[str, int]],
) -> ObjectShape | None:
    """None if the counts exclude each other or the required names. `strings`: those that satisfy
    a schema; `order`: the places of names, where several schemas declare some."""
    every: list[Properties] = []
    required: dict[str, None] = {}
    some: list[SomeMember] = []
    allowed: list[Regular] = []
    counts: list[PropertyCount] = []
    for assertion in branch:
        match assertion:
            case Properties():
                every.append(assertion)
            case Required(names=names):
                required.update(dict.fromkeys(names))
            case SomeMember():
                some.append(assertion)
            case PropertyNames(schema=schema, negative=negative):
                names = strings(schema)
                if negative:
                    other = ((complement(names), Schema(schema.pointer)),)
                    some.append(SomeMember({}, other))
                elif names is not ANYTHING:
                    allowed.append(names)
            case PropertyCount():
                counts.append(assertion)
            case _:
                pass
    least, most = joint_count(counts)
    if most is not None and most < max(least, len(required)):
        return None
    declared = list(dict.fromkeys(name for each in every for name in each.named))
    if sum(bool(each.named) for each in every) > 1:
        places = order()
        declared.sort(key=lambda name: places.get(name, len(places)))
    return _shape(every, declared, list(required), some, allowed, least, most)


def _shape(
    every: list[Properties],
    declared: list[str],
    required: list[str],
    some: list[SomeMember],
    allowed: list[Regular],
    least: int,
    most: int | None,
) -> ObjectShape:
    wanted = (name for each in some for name in (*each.named, *each.absent))
    names = tuple(dict.fromkeys((*declared, *required, *wanted)))
    needed = set(required)

    lone = every[0] if len(every) == 1 and not (every[0].patterns or allowed or some) else None

    def value(name: str) -> Conjunction:
        if lone is not None and is_text(name):
            return joined((lone.named.get(name, lone.additional),))
        if not is_text(name) or not all(contains(language, name) for language in allowed):
            return NEVER
        found: list[Schema] = []
        for each in every:
            matching = [s for language, s in each.patterns if contains(language, name)]
            if name in each.named:
                matching.append(each.named[name])
            found += matching or [each.additional]
        return joined(found)

    languages = tuple(
        dict.fromkeys(
            [language for each in every for language, _ in each.patterns]
            + [language for each in some for language, _ in each.patterns]
            + allowed
        )
    )
    places = {language: at for at, language in enumerate(languages)}

    def others(mask: tuple[bool, ...]) -> Conjunction:
        if not all(mask[places[language]] for language in allowed):
            return NEVER
        found: list[Schema] = []
        for each in every:
            matching = [s for language, s in each.patterns if mask[places[language]]]
            found += matching or [each.additional]
        return joined(found)

    return ObjectShape(
        names=names,
        declared=len(declared),
        values=tuple(value(name) for name in names),
        required=frozenset(at for at, name in enumerate(names) if name in needed),
        languages=languages,
        others=others,
        some=tuple(_wanted(each, names, places) for each in some),
        least=least,
        most=most,
    )


def _wanted(some: SomeMember, names: tuple[str, ...], places: Mapping[Regular, int]) -> Wanted:
    named: dict[int, tuple[Schema, ...]] = {}
    for at, name in enumerate(names):
        found = [schema for language, schema in some.patterns if contains(language, name)]
        if name in some.named:
            found.append(some.named[name])
        if found:
            named[at] = tuple(found)
    languages = tuple((places[each], schema) for each, schema in some.patterns)
    absent = sum(1 << at for at, name in enumerate(names) if name in some.absent)
    return Wanted(named, languages, absent)
