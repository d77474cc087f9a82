"""Short strings of intersections: `re` finds in them what was asked for, and no search was made."""

from __future__ import annotations

import re
from itertools import permutations
from random import Random

import pytest

from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.character_dfa import CharacterDfa
from maskwright.grammar.regular.composed import JointString, _overlapping, joint
from maskwright.grammar.regular.derivative import contains, is_live, known_string
from maskwright.grammar.regular.terms import Regular, alt, complement, intersection, length
from tests.bounds import counted_calls

WORDS = ["ab1", "b12", "bc1", "c12", "ca1", "a12"]


def found(patterns: list[str]) -> Regular:
    return intersection(*map(search, patterns))


@pytest.mark.parametrize(
    ("patterns", "text"),
    [
        (["ab1", "b12"], "ab12"),
        (["ab1", "xy", "b12"], "ab12xy"),
        (["ab", "b", "a"], "ab"),
        (["x$", "ab", "^y"], "yabx"),
        (["x$", "xy"], "xyx"),
        (["ab|c", "c"], "c"),
    ],
)
def test_a_text_has_all_that_may_stand_anywhere(patterns: list[str], text: str) -> None:
    term = found(patterns)
    assert joint(term).text == known_string(term) == text
    assert all(re.search(pattern, text) for pattern in patterns)


@pytest.mark.parametrize(
    ("texts", "joined"),
    [(["ab1", "b12"], "ab12"), (["ab", "b", "a"], "ab"), (["ca", "a"], "ca"), (["y", "x"], "xy")],
)
def test_the_order_of_the_parts_makes_no_difference(texts: list[str], joined: str) -> None:
    pieces = [JointString(text, opens=True, closes=True) for text in texts]
    assert {_overlapping([*order]) for order in permutations(pieces)} == {joined}


def test_of_several_options_one_is_taken_beside_which_anything_may_come() -> None:
    option = alt(full_match("q"), intersection(search("ab"), search("bc")), search("^y"))
    assert joint(intersection(search("ca"), option)).text in ("cabc", "abca")


@pytest.mark.parametrize("seed", range(40))
def test_a_known_string_is_in_the_language(seed: int) -> None:
    random = Random(seed)
    pieces = ["ab", "b+c", "a.b", "^[ab]", "c$", "^..{4}$", "[^a]c", "a|bc", "^a|b", "(ab){2}"]
    terms = [search(each) for each in random.sample(pieces, random.randint(2, 5))]
    if random.random() < 0.5:
        terms.append(complement(search(random.choice(["bb", "ca", "^c"]))))
    if random.random() < 0.5:
        terms.append(alt(search("ba"), intersection(search("a"), search("cb"))))
    least = random.randint(0, 12)
    term = intersection(*terms, length(least, least + random.randint(0, 8)))
    text = known_string(term)
    if text is not None:
        assert contains(term, text)
        assert is_live(term)


def test_parts_are_read_to_where_anything_may_follow() -> None:
    term = found([f"1z{letter}" for letter in "abcdefghijklmnop"])
    text = known_string(term)
    with counted_calls() as calls:  # all transitions are known now
        assert known_string(term) == text
    assert calls.count < 2_200


def test_many_languages_within_a_length_are_not_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(CharacterDfa, "explore")
    languages = [*map(search, WORDS), search("^[\\w]*$"), full_match(r"[^\n]{30}")]
    assert is_live(intersection(*languages, length(0, 200)))
    assert is_live(intersection(*languages[:-1], length(40, 50)))
