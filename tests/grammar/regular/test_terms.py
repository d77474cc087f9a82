"""The normal form of terms: repeats that stand next to each other."""

from __future__ import annotations

import re
from itertools import combinations, product
from random import Random

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import arcs, contains, derivative
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Alt,
    Chars,
    Complement,
    CountingSet,
    Intersection,
    LengthBounded,
    Regular,
    alt,
    bounds_of,
    char,
    complement,
    concat,
    counting_set,
    exactly_one,
    intersection,
    length,
    repeat,
    uncovered,
    words,
)
from maskwright.limits import Limits, Work
from tests.properties.patterns import counted_pattern

A, B = char("a"), words(["ab", "b"])


@pytest.mark.parametrize(
    ("term", "same"),
    [
        (concat(repeat(A, 0, 1), repeat(A, 0, 1), repeat(A, 0, 1)), repeat(A, 0, 3)),
        (concat(repeat(A), repeat(A, 1)), repeat(A, 1)),
        (concat(repeat(A, 2, 3), repeat(A, 1, 5), B), concat(repeat(A, 3, 8), B)),
        (concat(repeat(A, 0, 4), repeat(A, 2)), repeat(A, 2)),
        (concat(repeat(B, 0, 1), concat(repeat(B, 0, 1), A)), concat(repeat(B, 0, 2), A)),
    ],
)
def test_repeats_of_one_body_are_one(term: Regular, same: Regular) -> None:
    assert term is same


@pytest.mark.parametrize(
    ("term", "same"),
    [
        (complement(length(0, 4)), length(5, None)),
        (complement(length(3, None)), length(0, 2)),
        (intersection(repeat(A), complement(length(0, 4))), repeat(A, 5)),
        (intersection(repeat(A), complement(length(3, None))), repeat(A, 0, 2)),
        (intersection(repeat(A), complement(length(3, 4))), alt(repeat(A, 0, 2), repeat(A, 5))),
        (intersection(repeat(A, 1), complement(length(0, 4)), complement(B)), repeat(A, 5)),
        (intersection(length(2, 9), complement(length(4, 5))), alt(length(2, 3), length(6, 9))),
    ],
)
def test_lengths_besides_others_are_bounds(term: Regular, same: Regular) -> None:
    assert not holds_complement_of_length(term)
    texts = ["a" * size for size in range(12)]
    assert [contains(term, text) for text in texts] == [contains(same, text) for text in texts]


def holds_complement_of_length(term: Regular) -> bool:
    match term:
        case Complement(body=body):
            return bounds_of(body) is not None
        case Alt(options=parts) | Intersection(parts=parts):
            return any(map(holds_complement_of_length, parts))
        case LengthBounded(core=core):
            return holds_complement_of_length(core)
        case _:
            return False


def test_lists_of_words_together_are_one_list() -> None:
    left, right = words(["ab", "b", "cd", "d"]), words(["b", "cd", "e"])
    assert intersection(left, right) is words(["b", "cd"])
    assert intersection(left, complement(right)) is words(["ab", "d"])
    assert intersection(left, right, complement(words(["b"]))) is words(["cd"])
    assert intersection(left, complement(words(["ab", "b"])), complement(words(["cd"]))) is words(
        ["d"]
    )
    assert intersection(words(["a"]), words(["b"])) is EMPTY
    assert intersection(right, complement(right)) is EMPTY
    third = repeat(char("d"))
    assert intersection(left, third, complement(right)) is intersection(words(["ab", "d"]), third)


def test_repeats_of_others_stay() -> None:
    term = concat(repeat(A, 0, 1), repeat(char("b"), 0, 1), repeat(A, 0, 1))
    accepted = [text for text in ("", "a", "b", "ab", "ba", "aa", "aba") if contains(term, text)]
    assert accepted == ["", "a", "b", "ab", "ba", "aa", "aba"]
    assert not any(contains(term, text) for text in ("bb", "aaa", "bab"))


def test_many_optional_characters_are_few_terms() -> None:
    term = full_match("a?" * 600 + "b")
    for _ in range(600):
        [(_, _, term), _] = arcs(term)
    assert contains(term, "b")
    assert not contains(term, "ab")


def test_a_repeat_of_a_repeat_matches_what_both_say() -> None:
    """All pairs of small bounds: whether numbers are left out between the rounds or not."""
    bounds = [(least, most) for least in range(4) for most in (*range(max(least, 1), 5), None)]
    for (least, most), (fewest, largest) in product(bounds, repeat=2):
        term = repeat(repeat(A, least, most), fewest, largest)
        pattern = re.compile(f"(?:a{_bounds(least, most)}){_bounds(fewest, largest)}")
        for size in range(26):
            expected = pattern.fullmatch("a" * size) is not None
            assert contains(term, "a" * size) == expected, (pattern.pattern, size)


def _bounds(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}"


def test_a_repeat_of_a_repeat_is_one_if_no_number_is_left_out() -> None:
    assert repeat(repeat(A, 1, 60), 1, 60) is repeat(A, 1, 3600)
    assert repeat(repeat(A, 3, 3), 4, 4) is repeat(A, 12, 12)
    assert repeat(repeat(A, 2, 3), 1, 9) is repeat(A, 2, 27)  # 2 to 3, 4 to 6, 6 to 9...
    assert repeat(repeat(A, 3, 4), 1, 9) is not repeat(A, 3, 36)  # 5 is neither 3 to 4 nor 6 to 8


def test_many_options_are_counted_as_work() -> None:
    """They take time that grows with their number, which the number of characters doesn't show."""
    options = [concat(*(char(letter) for letter in f"{number:03}")) for number in range(1000)]
    with pytest.raises(LimitError), Work(Limits(work=50)):
        alt(*options)


ALL = ["".join(text) for size in range(7) for text in product("ab", repeat=size)]
COUNTED = [
    "[ab]{0,10}a[ab]{0,10}b[ab]{0,3}",
    "(?:[ab]*a[ab]{3}){2}",
    "(?:a|ab|b){1,5}b{0,3}(?:a{2}){1,2}",
    "(?:a{1,2}b{0,2}){1,3}",
    "(?:(?:a|b){2,3}b){2,}",
    "(?:a?){3}(?:ab?){2,4}",
]


@pytest.mark.parametrize(
    "pattern",
    [*COUNTED, *dict.fromkeys(counted_pattern(Random(n), "ab", 3 + n % 5) for n in range(60))],
)
def test_counted_repeats_match_what_they_say(pattern: str) -> None:
    term, compiled = full_match(pattern), re.compile(pattern)
    for text in ALL:
        assert contains(term, text) == (compiled.fullmatch(text) is not None), text


@pytest.mark.parametrize(
    ("pattern", "text", "most"),
    [
        ("[^]{0,1000}a[^]{0,1000}b[^]{0,12}", "xyaabxbaay" * 60, 6),
        ("(?:[^]*a[^]{300}){3}", "baab" * 300, 100),
        ("\\p{L}{1,200}(?:\\p{Lu}|\\p{N}){3,90}", "aB1éÀ"[:4] * 40, 4),
        ("(?:(?:a|ab|b){1,50}c{0,30}){1,40}", "ababbacc" * 30, 50),
        ("(?:\\w{1,63}\\.){1,100}\\w{2,20}", "abc.x1." * 30, 4),
        ("(((x{1,60}){1,60}){1,60}){1,60}", "x" * 200, 1),
    ],
)
def test_places_where_a_counter_may_have_begun_do_not_pile_up(
    pattern: str, text: str, most: int
) -> None:
    """The alternatives in a derivative stay few, wherever the text stands."""
    term = full_match(pattern)
    for character in text:
        term = derivative(term, character)
        if term is EMPTY:
            break
        assert len(term.options if isinstance(term, Alt) else [term]) <= most


def test_sets_of_counts() -> None:
    a, tail = char("a"), words(["b"])
    assert isinstance(a, Chars)
    numbers = (0, 3, 5, 8, 9, 12)
    term = alt(*(concat(repeat(a, n, n), tail) for n in numbers))
    assert isinstance(term, CountingSet)
    assert [n for n in range(20) if contains(term, "a" * n + "b")] == list(numbers)
    assert term is counting_set(a, sum(1 << n for n in numbers), tail)
    assert contains(concat(term, tail), "aaabb")
    assert not contains(concat(term, tail), "aaab")
    assert alt(term, concat(repeat(a, 1, 20), tail)) is concat(repeat(a, 0, 20), tail)
    assert shortest(intersection(term, repeat(alt(a, tail), 5))) == "aaaaab"
    assert alt(concat(repeat(a, 2, 4), tail), concat(repeat(a, 5, 9), tail)) is concat(
        repeat(a, 2, 9), tail
    )
    assert alt(concat(repeat(a, 1, 4), tail), tail) is concat(repeat(a, 0, 4), tail)


@pytest.mark.parametrize("patterns", [("a*b", "[ab]{2}", "b*", "(ab)*"), ("a", "a", "[ab]"), ("",)])
def test_exactly_one_of_several(patterns: tuple[str, ...]) -> None:
    term = exactly_one(map(full_match, patterns))
    for text in ALL:
        matched = sum(re.fullmatch(pattern, text) is not None for pattern in patterns)
        assert contains(term, text) == (matched == 1), text
    with_more = exactly_one(map(full_match, patterns), excluded=full_match("b.*"))
    for text in ALL:
        right = contains(term, text) and not text.startswith("b")
        assert contains(with_more, text) == right, text


def test_what_another_option_finds_anywhere_is_no_option() -> None:
    found = concat(ANYTHING, char("b"), ANYTHING)
    longer = concat(ANYTHING, char("a"), found)
    assert alt(longer, found) is found
    assert alt(found, concat(char("c"), char("b"), ANYTHING)) is found
    assert alt(longer, concat(ANYTHING, char("c"))) is not longer


def test_cells_that_differ_in_one_part_are_one() -> None:
    patterns = [full_match(pattern) for pattern in ("a.*", ".*b", ".{2}")]
    cells = [
        intersection(*its) for its in product(*((complement(each), each) for each in patterns))
    ]
    assert alt(*cells) is ANYTHING
    first, last, _ = patterns
    assert alt(*cells[:4]) is complement(first)
    assert alt(*cells[:4], *cells[6:]) is alt(complement(first), last)
    for few in combinations(range(8), 3):
        term = alt(*(cells[at] for at in few))
        for text in ALL:
            right = any(contains(cells[at], text) for at in few)
            assert contains(term, text) == right, (few, text)


def test_the_options_of_a_wide_union_are_not_compared() -> None:
    """Each would be compared with each, which took seconds for some thousand options."""
    whole = full_match("a.*")
    part = intersection(whole, full_match(".*b"))
    words = [full_match(f"w{number}[a-z]*") for number in range(40)]
    assert alt(*words[:20], whole, part) is alt(*words[:20], whole)
    wide = alt(*words, whole, part)
    assert isinstance(wide, Alt)
    assert set(wide.options) == {*words, whole, part}


def test_an_intersection_is_no_option_beside_one_of_its_parts() -> None:
    first, last = full_match("a.*"), full_match(".*b")
    assert alt(intersection(first, last), last) is last
    assert uncovered({intersection(first, last), last, A}) == {last, A}
