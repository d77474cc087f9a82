"""Formats against the official test suite, their own tables, and independent checkers."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from maskwright.grammar.formats import format_language
from maskwright.grammar.regular.derivative import arcs, contains
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Regular

LATEST = "draft2020-12"
NAMES = [
    *("date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname"),
    *("ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid"),
    *("json-pointer", "relative-json-pointer", "regex"),
]


def language(name: str, draft: str = LATEST) -> Regular:
    found = format_language(name, draft)
    assert found is not None
    return found.language


def test_the_official_suite(shared_data: Callable[[str], Path]) -> None:
    wrong: Counter[str] = Counter()
    right = 0
    known: dict[tuple[Regular, str], bool] = {}
    with gzip.open(shared_data("json-schema-test-suite.jsonl.gz"), "rt") as lines:
        for line in lines:
            group = json.loads(line)
            if not group["file"].startswith("optional/format/"):
                continue
            name = group["schema"]["format"]
            found = format_language(name, group["draft"])
            for test in group["tests"]:
                data = test["data"]
                accepted = True
                if isinstance(data, str) and found is not None:
                    key = (found.language, data)
                    if key not in known:
                        known[key] = contains(*key)
                    accepted = known[key]
                right += accepted == test["valid"]
                if accepted and not test["valid"]:
                    pytest.fail(f"{name} accepts {data!r}: {test['description']}")
                elif not accepted and test["valid"]:
                    assert found is not None
                    assert not found.exact, (name, data, test["description"])
                    wrong[name] += 1
    assert right >= 2678
    assert wrong.total() <= 63, wrong


@pytest.mark.parametrize("name", NAMES)
def test_every_format_has_a_shortest_string_that_it_contains(name: str) -> None:
    term = language(name)
    text = shortest(term)
    assert text is not None
    assert contains(term, text)


@pytest.mark.parametrize(
    ("name", "accepted", "rejected"),
    [
        ("date", ["0000-02-29", "1600-02-29", "9999-12-31"], ["1900-02-29", "2023-06-31"]),
        ("time", ["12:34:60+12:35", "23:59:60.5z"], ["12:34:60+12:34", "23:59:60"]),
        ("date-time", ["2024-02-29T00:00:00-23:59"], ["2024-02-29 00:00:00Z", "2024-02-29"]),
        ("duration", ["P3W", "PT5M"], ["P1Y1D", "P"]),
        ("email", ['"a\\"b"@x', "a@[IPv6:::]"], ["a@-x", "a@x-", "a@b..c", "ä@b"]),
        ("idn-email", ["ä@ö.example"], ["a@ ö"]),
        ("hostname", ["x", "xn", "xn-a", "x-n--a", "Xna", "a.b-c"], ["xn--a", "Xn--a.b", "a-."]),
        ("hostname", ["xn" + "a" * 61], ["xn" + "a" * 62, ".".join(["a" * 63] * 4)]),
        ("idn-hostname", ["bücher.example", "例え。jp"], ["Bücher", "ü" * 60, "xn--bcher-kva"]),
        ("ipv6", ["1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8"], ["1::2:3:4:5:6:7:8", ":", ":::"]),
        ("uri", ["a:", "http://[v1.a]:80/?#"], ["a", "a:#b#", "http://[::1", "ü:"]),
        ("iri-reference", ["ü", "//ü@ü:8/?\ue000"], ["ü:x", "\ue000", "%"]),
        ("uri-template", ["{+a,b.c:3,d*}"], ["{a.}", "{", "{a:0}"]),
        ("relative-json-pointer", ["0", "1+2/a", "3-1#"], ["1+0", "+1"]),
        (
            "regex",
            ["", r"^(?:a|b){2,3}?[^\d_-]$", r"\p{Lu}(?<n>x)", "[a-z-]", r"(?=a(b(c(d))))"],
            ["(", "a**", "[z-a]", "a{3,2}", r"\1", "(?<n>a)(?<n>b)", "]", r"\p{Nope}", "^*"],
        ),
    ],
)
def test_own_table(name: str, accepted: list[str], rejected: list[str]) -> None:
    term = language(name)
    assert [text for text in accepted if not contains(term, text)] == []
    assert [text for text in rejected if contains(term, text)] == []


def test_drafts_differ() -> None:
    assert contains(language("hostname", "draft6"), "xn--whatever")
    assert not contains(language("hostname", "draft7"), "xn--whatever")
    assert not contains(language("relative-json-pointer", "draft7"), "1+2")
    assert language("ip-address", "draft4") is language("ipv4")


@pytest.mark.parametrize("name", ["", "unknown", "int32", "Date"])
def test_an_unknown_format_is_an_annotation(name: str) -> None:
    assert format_language(name, LATEST) is None


@pytest.mark.parametrize("name", ["hostname", "idn-hostname", "regex"])
def test_what_is_left_out_is_said(name: str) -> None:
    found = format_language(name, LATEST)
    assert found is not None
    assert not found.exact
    assert "left out" in found.note


@pytest.mark.parametrize("name", ["date", "ipv4", "ipv6", "idn-email", "email"])
def test_what_is_generated_passes_the_checker_of_jsonschema(name: str) -> None:
    checker = pytest.importorskip("jsonschema").FormatChecker()
    term = language(name)
    chance = random.Random(name)
    for _ in range(60):
        text = random_string(term, chance, letters=range(0x20, 0x7F))
        if name == "date" and text.startswith("0000"):
            continue  # Python's calendar begins with the year 1
        assert checker.conforms(text, name), text


def test_internationalised_names_pass_an_independent_implementation() -> None:
    idna = pytest.importorskip("idna")
    term = language("idn-hostname")
    chance = random.Random(3)
    for _ in range(60):
        text = random_string(term, chance, letters=range(0x61, 0x3100))
        name = text.replace("\u3002", ".").replace("\uff0e", ".").replace("\uff61", ".")
        if not name.isascii():
            idna.encode(name)


def random_string(term: Regular, chance: random.Random, letters: range) -> str:
    """Some string of the language, of `letters` where there is a choice."""
    text = ""
    while not (term.nullable and chance.random() < 0.2):
        options = arcs(term)
        if not options:
            break
        near = [arc for arc in options if arc[1] >= letters.start and arc[0] < letters.stop]
        low, high, term = chance.choice(near or options)
        bottom, top = max(low, letters.start), min(high, letters.stop - 1)
        text += chr(chance.randint(bottom, top) if bottom <= top else low)
    assert contains(term, "")
    return text
