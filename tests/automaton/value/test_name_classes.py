"""Classes of names by the languages that they lie in."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.value.equality import equality_candidates
from maskwright.automaton.value.name_classes import NameClasses
from maskwright.errors import LimitError
from maskwright.grammar.regular.derivative import contains
from maskwright.limits import DEFAULT_LIMITS, Work
from tests.automaton.solving import object_

CLASSES: list[tuple[list[str], list[tuple[bool, ...]]]] = [
    ([], [()]),
    (["^a"], [(True,), (False,)]),
    (["^a", "^b"], [(True, False), (False, True), (False, False)]),  # none begins with both
    (["^a", "^ab"], [(True, True), (True, False), (False, False)]),
    (["a", "b"], [(True, True), (True, False), (False, True), (False, False)]),
    # Languages of few names, and others
    (["^(a|b)$", "^(x|y)$"], [(True, False), (False, True), (False, False)]),
    (["^(a|b)$", "^(b|x)$"], [(True, True), (True, False), (False, True), (False, False)]),
    (["^(a|b|ab)$", "^a"], [(True, True), (True, False), (False, True), (False, False)]),
    (["^a", "^(a|b|ab)$"], [(True, True), (True, False), (False, True), (False, False)]),
    (["^[ab]", "^(ab|ba)$", "^(ab)$"],
     [(True, True, True), (True, True, False), (True, False, False), (False, False, False)]),
]  # fmt: skip


def _open(patterns: list[str], **schema: Any):
    return object_({"patternProperties": {pattern: {} for pattern in patterns}, **schema})


@pytest.mark.parametrize(("patterns", "masks"), CLASSES)
def test_classes(patterns: list[str], masks: list[tuple[bool, ...]]) -> None:
    shape = _open(patterns).shape
    found = NameClasses(DEFAULT_LIMITS).of(shape.languages)
    assert [each.mask for each in found] == masks
    for name in ("a", "ab", "b", "ba", "x", ""):
        holding = [each for each in found if contains(each.language, name)]
        assert len(holding) == 1, name
        inside = tuple(contains(language, name) for language in shape.languages)
        assert holding[0].mask == inside


def test_languages_of_few_names_do_not_divide_the_rest_one_after_the_other() -> None:
    def steps(count: int) -> float:
        shape = _open([f"^{at}:[0-9]:x$" for at in range(count)]).shape
        work = Work(DEFAULT_LIMITS)
        with work:
            assert len(NameClasses(DEFAULT_LIMITS).of(shape.languages)) == count + 1
        return work.budget - work.until_look

    assert steps(80) < 5 * steps(20)


def test_too_many_classes_are_refused() -> None:
    shape = _open(["a", "b", "c"]).shape
    few = dataclasses.replace(DEFAULT_LIMITS, alternatives=7)
    with pytest.raises(LimitError) as raised:
        NameClasses(few).of(shape.languages)
    assert raised.value.limit == "alternatives"
    assert len(NameClasses(dataclasses.replace(few, alternatives=8)).of(shape.languages)) == 8


FRESH: list[tuple[str, dict[str, Any], frozenset[str], str | None]] = [
    ("^[ab]$", {}, frozenset(), "a"),
    ("^[ab]$", {"properties": {"a": {}}}, frozenset(), "b"),
    ("^[ab]$", {"properties": {"a": {}}}, frozenset("b"), None),
    ("^a*$", {}, frozenset(("a", "aa")), "aaa"),
    ("^b?$", {}, frozenset(), "b"),  # the empty name is the last choice
    ("^b?$", {}, frozenset("b"), ""),
    ("^b?$", {}, frozenset(("b", "")), None),
    ("^$", {}, frozenset(), ""),
    ("^$", {"properties": {"": {}}}, frozenset(), None),
]


@pytest.mark.parametrize(("pattern", "schema", "read", "name"), FRESH)
def test_fresh_names(
    pattern: str, schema: dict[str, Any], read: frozenset[str], name: str | None
) -> None:
    classes = NameClasses(DEFAULT_LIMITS)
    progress = replace(_open([pattern], **schema), others=read)
    inside = next(c for c in classes.of(progress.shape.languages) if c.mask == (True,))
    assert classes.fresh(progress, inside) == name


def test_the_empty_name_is_the_last_of_many() -> None:
    classes = NameClasses(DEFAULT_LIMITS)
    read = frozenset("".join(name) for size in (1, 2, 3) for name in product("abcd", repeat=size))
    progress = replace(_open(["^[abcd]{0,3}$"]), others=read)
    inside, _ = classes.of(progress.shape.languages)
    assert classes.fresh(progress, inside) == ""
    assert classes.many_fresh(_open(["^[abcd]{0,3}$"]), inside, len(read) + 2) is None
    names = classes.many_fresh(_open(["^[abcd]{0,3}$"]), inside, len(read))
    assert names is not None
    assert {*names} == read


def test_of_all_names_those_come_first_that_read_best() -> None:
    """They are picked out of a list: no language is made of the names that are left."""
    classes = NameClasses(DEFAULT_LIMITS)
    progress = _open([], properties={"b": {}, "d": {}})
    (anything,) = classes.of(())
    names = classes.many_fresh(progress, anything, 60)
    assert names is not None
    assert "".join(names) == "acefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert classes.fresh(replace(progress, others=frozenset(names)), anything) == " "


def test_names_of_candidates_are_not_fresh() -> None:
    classes = NameClasses(DEFAULT_LIMITS)
    progress = replace(_open(["^[ab]$"]), candidates=equality_candidates(['{"a":1}'], (), "{"))
    inside, outside = classes.of(progress.shape.languages)
    assert classes.fresh(progress, inside) == "b"
    assert [*classes.of_candidates(progress)] == [("a", inside)]
    assert [*classes.of_candidates(replace(progress, others=frozenset("a")))] == []
    assert classes.few(inside) == ("a", "b")
    assert classes.few(outside) is None
