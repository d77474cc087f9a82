"""Shortest strings: composed, searched for, and of a certain length."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.formats import format_language
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.beginnings import least_length
from maskwright.grammar.regular.character_dfa import LatestText
from maskwright.grammar.regular.composed import encoded_size
from maskwright.grammar.regular.derivative import (
    arcs,
    contains,
    derivative,
    forget_transitions,
    is_live,
    place,
)
from maskwright.grammar.regular.shortest import shortest, shortest_besides
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    alive,
    alt,
    char,
    complement,
    concat,
    intersection,
    length,
    repeat,
    words,
)
from maskwright.limits import DEFAULT_LIMITS, Work
from tests.bounds import counted_calls


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (EMPTY, None),
        (EPSILON, ""),
        (full_match("[b-z]"), "b"),
        (full_match("(ab|c){2}"), "cc"),
        (full_match("x*"), ""),
        (words(["abc", "zz", "éé"]), "zz"),
        (words(["日本", "abc"]), "abc"),  # the shortest in UTF-8
        (alt(char("日"), words(["ab"])), "ab"),
        (concat(words(["abc", "ab"]), char("!")), "ab!"),
        (repeat(words(["ab", "c"]), 3, 5), "ccc"),
        (intersection(full_match("(aa)+"), full_match("(aaa)+")), "aaaaaa"),
        (intersection(full_match("a+"), full_match("b+")), None),
        (intersection(full_match("日|ab"), complement(words(["x"]))), "ab"),
        (intersection(full_match("[ab]*b"), complement(words(["b"]))), "ab"),
        (intersection(full_match("(ab)*c?"), length(4, 9)), "abab"),
        (intersection(full_match("(ab)+"), length(5, 5)), None),
        # Beyond what an automaton counts, what is left may be a count of characters alone.
        (intersection(full_match(".*a.*"), length(0, 1_000)), "a"),
        (intersection(full_match(".*a.*"), length(0, 10**9)), "a"),
        (intersection(full_match(".*a.*"), length(3, 10**300)), "aaa"),
        (intersection(full_match(".*ab|c+"), length(2, 10**9)), "ab"),
    ],
)
def test_a_shortest_string(term: Regular, text: str | None) -> None:
    found = shortest(term)
    if text is None or found is None:
        assert found is text
    else:
        assert found == text


@pytest.mark.parametrize("pattern", ["a(?!b)[ab]{2}", "(?=.*bb)[ab]*", "(?!a)(?!b?$)[ab]+", "a|bb"])
def test_none_is_shorter(pattern: str) -> None:
    every = ["".join(each) for size in range(5) for each in product("ab", repeat=size)]
    nearest = next(text for text in every if re.fullmatch(pattern, text))
    found = shortest(full_match(pattern))
    assert found is not None
    assert re.fullmatch(pattern, found)
    assert len(found) == len(nearest)


def test_a_search_is_bounded() -> None:
    far = intersection(full_match("(a{7})+"), full_match("(a{9})+"))
    with pytest.raises(LimitError, match="among 8 states"):
        shortest(far, limit=8)
    with pytest.raises(LimitError):
        shortest(repeat(char("a"), 1000), limit=999)


PIECES = ("a", "b", "é", "[ab]", "[aé]", "(ab)", ".", "(a|bb)", "(ab|é)", "(aa)", "(b{1,2})")


def random_pattern(draw: Random) -> str:
    """Pieces in a row, some of them repeated or optional."""
    suffixes = ("", "", "", "*", "+", "?", "{2}")
    return "".join(draw.choice(PIECES) + draw.choice(suffixes) for _ in range(draw.randint(1, 3)))


def test_no_string_of_an_intersection_is_shorter() -> None:
    """The search goes by lower bounds of what is missing; a brute search over all texts doesn't."""
    draw = Random(0)
    every = ["".join(each) for size in range(6) for each in product("abcé", repeat=size)]
    every.sort(key=encoded_size)
    found = 0
    for _ in range(400):
        patterns = [random_pattern(draw) for _ in range(draw.randint(2, 3))]
        avoided = random_pattern(draw)
        term = intersection(*map(full_match, patterns), complement(full_match(avoided)))
        fits = (
            text
            for text in every
            if all(re.fullmatch(pattern, text) for pattern in patterns)
            and not re.fullmatch(avoided, text)
        )
        nearest = next(fits, None)
        text = shortest(term)
        if nearest is not None:
            found += 1
            assert text is not None, (patterns, avoided)
            assert encoded_size(text) == encoded_size(nearest), (patterns, avoided, text)
        assert text is None or least_length(term) <= len(text), (patterns, avoided)
    assert found > 40


def test_a_string_of_a_part_that_is_in_the_others_is_found_without_a_search() -> None:
    """A search would go through the products of the states of a date and of an open pattern."""
    date = format_language("date-time", "draft2020-12")
    assert date is not None
    pattern = r"\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    term = intersection(date.language, full_match(f"(.|\n)*{pattern}(.|\n)*"))
    with counted_calls() as calls:
        text = shortest(term)
    assert text is not None
    assert len(text) == len("2020-01-01T00:00:00Z")
    assert re.fullmatch(pattern, text)
    assert contains(date.language, text)
    assert calls.count < 30_000


def test_no_string_besides_some_others_is_shorter() -> None:
    """As a brute search finds it, and as the language without them has it."""
    draw = Random(1)
    every = ["".join(each) for size in range(6) for each in product("abé", repeat=size)]
    every.sort(key=encoded_size)
    none = 0
    for _ in range(400):
        pattern = random_pattern(draw)
        fits = [text for text in every if re.fullmatch(pattern, text)]
        others = [*fits[: draw.randint(0, 9)], *draw.sample(every[:40], draw.randint(0, 9))]
        term = full_match(pattern)
        text = shortest_besides(term, others)
        alone = shortest(intersection(term, complement(words(others))))
        if text is None or alone is None:
            none += 1
            assert text is alone, (pattern, others)
            continue
        assert re.fullmatch(pattern, text), (pattern, others, text)
        assert text not in others
        nearest = min(encoded_size(each) for each in (alone, *(set(fits) - {*others})))
        assert encoded_size(text) == nearest, (pattern, others, text)
    assert 20 < none < 200


def test_a_string_besides_all_of_one_character_has_another() -> None:
    letters = [chr(point) for point in range(0x20, 0x7F)]
    assert shortest_besides(full_match("."), letters[:-1]) == "~"
    assert shortest_besides(full_match("[ -~]"), letters) is None
    assert shortest_besides(full_match("[ -~é]"), letters) == "é"
    assert shortest_besides(full_match("é|è"), ["è"]) == "é"


def test_a_search_goes_where_an_end_is_nearest() -> None:
    """Four conditions about a long string, most combinations of whose states lead nowhere."""
    conditions = [full_match("([a-z][0-9])+"), full_match(".*((b2e4h1).{4,8}){5}.*")]
    conditions += [full_match(".*[q7]{8}"), complement(full_match("(x|9)*"))]
    with Work(replace(DEFAULT_LIMITS, work=100_000)):
        assert is_live(intersection(*conditions, length(70, None)))


def test_of_equal_bounds_the_longest_text_is_continued() -> None:
    """Most of a hundred characters may be any, so that nearly all beginnings seem equally good."""
    conditions = [full_match("([a-z][0-9])+"), full_match(".*((d1f3k3).{4,8}){6}.*")]
    conditions += [full_match(".*[u6]{10}"), complement(full_match("(d1f3k3.{4,8}){6}.*"))]
    with Work(replace(DEFAULT_LIMITS, work=200_000)):
        text = shortest(intersection(*conditions, length(100, None)))
    assert text is not None
    assert len(text) == 100
    assert re.fullmatch("([a-z][0-9])+", text)
    assert re.search("((d1f3k3).{4,8}){6}", text)
    assert re.search("[u6]{10}$", text)
    assert not re.match("(d1f3k3.{4,8}){6}", text)


def test_long_texts_that_end_alike_are_made_once() -> None:
    term = intersection(full_match("([g-k][4-6])+"), length(3_000, None))
    assert len(shortest(term) or "") == 3_000
    for beginning in ("g", "k5", "h4" * 20, "i"):
        left = derivative(term, beginning)
        with Work(replace(DEFAULT_LIMITS, work=50)):
            rest = shortest(left)
        assert rest is not None
        assert len(rest) == 3_000 - len(beginning)
        assert contains(left, rest)


def test_a_text_is_the_same_whatever_was_asked_before() -> None:
    rng = Random(6)
    for pattern in ("(ab|cd|e)*", "(a|bc){3,}d?", "([ab]{2}c)+|(ba)*", ".*a.{3}b"):
        term = intersection(full_match(pattern), length(9, 30))
        automaton, _ = place(full_match(pattern))
        begun = [term]
        for _ in range(12):
            left = begun[-1]
            found = [chr(low) for low, _, _ in arcs(left)]
            if not found:
                break
            begun.append(derivative(left, rng.choice(found)))
        alone: dict[int, str | None] = {}
        for at, left in enumerate(begun):
            automaton.latest = LatestText("", 0, [])
            left.short = None
            alone[at] = shortest(left)
        for _ in range(40):
            at = rng.randrange(len(begun))
            begun[at].short = None
            assert shortest(begun[at]) == alone[at]


@pytest.mark.parametrize(("ask", "letter"), [(shortest, "ä"), (is_live, "ö")])
def test_a_search_that_ends_at_a_limit_keeps_nothing_of_what_it_tried(
    ask: Callable[[Regular], object], letter: str
) -> None:
    """Of lengths that three numbers divide, and of their remainders."""
    parts = [full_match(f"({letter}{{{number}}})+") for number in (7, 11, 13)]
    term = intersection(*parts)
    forget_transitions()
    before = alive()
    with pytest.raises(LimitError), Work(replace(DEFAULT_LIMITS, work=900)):
        ask(term)
    assert alive() < before + 100
    assert ask(term), "it can be asked again"
    assert alive() > before + 900
    assert shortest(term) == letter * 1_001
