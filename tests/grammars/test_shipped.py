"""The shipped grammars: they accept and reject the examples beside them, and walks end."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random

import pytest

from maskwright import Grammar, compile_grammar
from tests.matching import EVERY_BYTE, allowed, matches, vocabulary

FOLDER = Path(__file__).parents[2] / "grammars"
NAMES = sorted(path.stem for path in FOLDER.glob("*.lark") if path.stem != "common")
SOME_TOKENS = vocabulary("SELECT ", " FROM", '": "', "\r\n", "1.", " e4", "</", "  ", "==", "http")


def compiled(name: str, vocab: object = EVERY_BYTE) -> Grammar:
    return compile_grammar((FOLDER / f"{name}.lark").read_text(), vocab)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_examples(name: str) -> None:
    examples = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    assert set(examples) == {"accepted", "rejected"}
    assert min(map(len, examples.values())) >= 3
    grammar = compiled(name)
    assert [s for s in examples["accepted"] if not matches(grammar, s)] == []
    assert [s for s in examples["rejected"] if matches(grammar, s)] == []
    assert grammar.report.annotations == ()


@pytest.mark.parametrize("name", NAMES)
def test_every_walk_comes_to_an_end_within_its_budget(name: str) -> None:
    grammar = compiled(name, SOME_TOKENS)
    for seed in range(3):
        random, matcher = Random(seed), grammar.matcher()
        for budget in range(40 + grammar.min_tokens, 0, -1):
            choices = sorted(allowed(matcher, budget))
            if choices[-1] == SOME_TOKENS.eos[0] and random.random() < 0.2:
                break
            token = random.choice([c for c in choices if c != SOME_TOKENS.eos[0]] or choices)
            assert matcher.accept(token)
            if matcher.terminated:
                break
        assert matcher.accepting


def test_every_file_is_a_grammar_with_examples_or_the_common_terminals() -> None:
    files = {path.name for path in FOLDER.iterdir() if path.is_file()}
    expected = {f"{name}.{kind}" for name in NAMES for kind in ("lark", "toml")}
    assert files == expected | {"README.md", "common.lark"}
    assert len(NAMES) >= 11


COMMON = {
    "INT": (["0", "007"], ["", "-1"]),
    "SIGNED_INT": (["-1", "+2", "3"], ["--1"]),
    "FLOAT": (["1.5", ".5", "1.", "1e9", "1.5E-3"], ["1", "e9"]),
    "NUMBER": (["1", "1.5"], ["-1"]),
    "SIGNED_NUMBER": (["-1", "+.5"], [""]),
    "ESCAPED_STRING": (['""', r'"a\"b"', r'"\\"'], ['"a"b"', '"a', '"a\nb"']),
    "HEXDIGIT": (["a", "F", "9"], ["g"]),
    "CNAME": (["_a1", "X"], ["1a"]),
    "WORD": (["abC"], ["a1"]),
    "WS": ([" \t\r\n"], [""]),
    "WS_INLINE": ([" \t"], ["\n"]),
    "NEWLINE": (["\n", "\r\n\n"], ["\r"]),
    "SH_COMMENT": (["# x"], ["# x\n"]),
    "CPP_COMMENT": (["// x"], ["/ x"]),
    "SQL_COMMENT": (["-- x"], ["- x"]),
    "C_COMMENT": (["/**/", "/* * / ***/"], ["/* */ */", "/*/"]),
}


@pytest.mark.parametrize("name", COMMON)
def test_common_terminals(name: str) -> None:
    inside, outside = COMMON[name]
    grammar = compile_grammar(f"%import common.{name}\nstart: {name}", EVERY_BYTE)
    assert [s for s in inside + outside if matches(grammar, s)] == inside


def test_rules_are_imported_with_what_they_need() -> None:
    text = '%import json.value -> json\nstart: "x=" json\n'
    grammar = compile_grammar(text, EVERY_BYTE)
    assert matches(grammar, 'x={"a":[1,null]}')
    assert not matches(grammar, "x={a:1}")
