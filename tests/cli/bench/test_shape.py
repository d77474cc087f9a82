"""What a shape costs, measured on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from maskwright import BudgetError, Grammar, compile_json_schema
from maskwright.cli.bench.shape import token_texts, with_budgets
from maskwright.cli.input.vocabulary import read_vocabulary
from tests.cli.conftest import Run
from tests.matching import allowed

SCHEMA = '{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}'


def test_a_shape_is_measured_beside_other_engines(run: Run) -> None:
    pytest.importorskip("llguidance")
    pytest.importorskip("xgrammar")
    found = run("bench", SCHEMA, "--text", '{"ok": true}', "--rounds", "3", "--json")
    assert found.returncode == 0, found.stderr
    answer = json.loads(found.stdout)
    assert (answer["texts"], answer["vocabulary"]) == (1, 4000)
    assert [engine["engine"] for engine in answer["engines"]] == [
        "maskwright",
        "llguidance",
        "xgrammar",
    ]
    for engine in answer["engines"]:
        assert engine["version"]
        for reading in ("first", "later"):
            figures = engine[reading]
            assert figures["compile_ms"] > 0
            assert figures["first_mask_ms"] > 0
            for name in ("mask_us", "budget_mask_us"):
                if name == "budget_mask_us" and engine["engine"] != "maskwright":
                    assert figures[name] is None  # they have no budgets
                    continue
                masks = figures[name]
                assert 0 < masks["p50"] <= masks["p99"] <= masks["most"]
                assert masks["mean"] <= masks["most"]


def test_random_texts_are_read_where_none_is_given(run: Run) -> None:
    options = ("--samples", "3", "--rounds", "1", "--no-peers")
    found = run("bench", "/[a-f]{8}/", *options)
    head, _, engine, names, row, with_budgets = found.stdout.splitlines()
    assert head.startswith("3 texts with ")
    assert engine == "maskwright"
    assert names.split()[:4] == ["reading", "compile", "ms", "first"]
    assert row.startswith("first ")
    assert with_budgets.startswith("first, with budgets ")
    answer = json.loads(run("bench", "/[a-f]{8}/", *options, "--json").stdout)
    assert answer["engines"][0]["later"] is None


STRINGS = json.dumps(
    {
        "type": "array",
        "items": {"type": "string", "minLength": 10, "maxLength": 30},
        "minItems": 10,
        "maxItems": 10,
    }
)


def test_texts_with_fewer_tokens_than_the_shortest_text_are_measured(run: Run) -> None:
    """Each has its own budget, under which all of its tokens are allowed."""
    word = '["' + '", "'.join(["the the the"] * 10) + '"]'
    for options in (("--samples", "3"), ("--text", word)):
        found = run("bench", STRINGS, "--no-peers", "--rounds", "1", "--json", *options)
        assert found.returncode == 0, found.stderr
        answer = json.loads(found.stdout)
        assert answer["engines"][0]["first"]["budget_mask_us"]["mean"] > 0


def test_a_budget_is_hardly_larger_than_the_text_needs() -> None:
    vocabulary = read_vocabulary("demo")
    grammar = compile_json_schema(json.loads(STRINGS), vocabulary)
    texts = token_texts(
        vocabulary,
        [
            json.dumps(["the the the"] * 10).encode(),
            json.dumps(["qxzjk vwqxz"] * 10).encode(),
        ],
    )
    for tokens, budget in with_budgets(grammar, texts):
        assert budget >= len(tokens) - 1
        assert followed(grammar, tokens, budget)
        assert not followed(grammar, tokens, budget - 3)


def followed(grammar: Grammar, tokens: Sequence[int], budget: int) -> bool:
    """Whether each mask within the budget allows the next of the tokens."""
    matcher = grammar.matcher()
    for at, token in enumerate(tokens):
        try:
            if token not in allowed(matcher, budget - at):
                return False
        except BudgetError:
            return False
        matcher.accept(token)
    return True


def test_an_engine_that_refuses_the_shape_is_reported(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("xgrammar")
    grammar = tmp_path / "word.lark"
    grammar.write_text("start: /[a-z]+/")
    found = run("bench", grammar, "--text", "word", "--rounds", "1")
    assert found.returncode == 0
    assert found.stdout.splitlines()[-1] == "xgrammar: its grammars are in GBNF"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (SCHEMA, "--text", '{"ok": 1}'),
            "'1', token 4 of text 1, isn't allowed; 'maskwright match' says why",
        ),
        (('{"type": "strin"}', "--text", "1"), "1:"),
        ((SCHEMA, "/no/such/file"), "/no/such/file"),
        ((SCHEMA, "--model", "/no/such/model"), "no tokenizer.json"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    found = run("bench", *arguments, "--no-peers", "--rounds", "1")
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_the_help_of_a_shape_names_the_measuring_of_a_server(run: Run) -> None:
    shown = run("bench", "--help")
    assert shown.returncode == 0
    assert "SHAPE" in shown.stdout
    assert "maskwright bench serve" in shown.stdout
    assert "--url" in run("bench", "serve", "--help").stdout
    assert run("bench").returncode == 2


def test_the_times_are_drawn(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "times.svg"
    assert run("bench", "/[a-f]{8}/", "--no-peers", "--rounds", "2", "--plot", file).returncode == 0
    picture = ElementTree.fromstring(file.read_text())
    drawn = {element.text for element in picture.iter() if element.text}
    assert {"maskwright, first", "maskwright, later", "maskwright, later, with budgets"} <= drawn
    assert run("bench", "/a/", "--plot", "/no/such/folder/times.svg").returncode == 2
