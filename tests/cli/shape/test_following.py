from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run

SCHEMA = (
    '{"type": "object", "properties": {"name": {"type": "string"}, "ok": {"type": "boolean"}}, '
    '"required": ["name", "ok"], "additionalProperties": false}'
)


def test_what_may_follow(run: Run) -> None:
    found = run("next", SCHEMA, "--text", '{"name": "x", ')
    assert found.returncode == 0
    assert found.stdout == (
        '  accepted   14 bytes: \'{"name": "x", \'\n'
        "  may end    no\n"
        "  allowed    tab, line break, carriage return, space, '\"'\n"
        '  forced     "ok":\n'
        "  then       false}   true}\n"
        "  waits for  a name\n"
        "  value      the whole text\n"
        "  schema     #\n"
    )


def test_how_a_text_may_begin_and_whether_it_may_end(run: Run) -> None:
    found = run("next", "/(ab)*/")
    assert found.returncode == 0
    assert "  may end   yes\n  allowed   a, end of text\n" in found.stdout


def test_a_prefix_that_is_none(run: Run) -> None:
    found = run("next", SCHEMA, "-", stdin='{"nome')
    assert found.returncode == 1
    assert found.stdout.startswith("-:1:4: this doesn't match\n")
    assert json.loads(run("next", SCHEMA, "--text", "x", "--json").stdout)["column"] == 1


def test_tokens_of_a_vocabulary(run: Run) -> None:
    found = run("next", SCHEMA, "--text", '{"name": "x", "ok": t', "--model", "demo", "--json")
    answer = json.loads(found.stdout)
    assert (answer["verdict"], answer["forced"]) == ("prefix", "rue")
    tokens = answer["tokens"]
    assert tokens["of"] == 4000
    assert tokens["count"] == len(tokens["ids"]) == len(tokens["texts"])
    assert "r" in tokens["texts"]
    assert all("rue".startswith(token[:3]) for token in tokens["texts"])
    shown = run("next", SCHEMA, "--text", '{"name": "x", "ok": t', "--model", "demo").stdout
    assert f"  tokens   {tokens['count']} of 4,000: 'r'" in shown


def test_what_the_model_would_write(run: Run) -> None:
    prefix = ("--text", '{"name": "x", "ok":')
    asked = ("next", SCHEMA, *prefix, "--probabilities", "--prompt", "Is it?")
    answer = json.loads(run(*asked, "--json").stdout)
    assert len(answer["likely"]) == 20
    allowed = {*answer["tokens"]["ids"]}
    chances = [each["raw"] for each in answer["likely"]]
    assert chances == sorted(chances, reverse=True)
    assert all(each["is_allowed"] == (each["token"] in allowed) for each in answer["likely"])
    seen = sum(each["raw"] for each in answer["likely"] if each["is_allowed"])
    assert seen - 1e-6 <= answer["kept"] <= seen + 1 - sum(chances) + 1e-6
    text = run(*asked).stdout
    assert f"  kept     {answer['kept']:.4f} of the model's probability\n" in text
    assert text.count("not allowed") == sum(not each["is_allowed"] for each in answer["likely"])
    refused = run("next", SCHEMA, "--prompt", "Is it?")
    assert refused.returncode == 2
    assert refused.stderr == "maskwright: --prompt needs --probabilities\n"


def test_the_end_token_is_among_them(run: Run) -> None:
    found = run("next", "/ab?/", "--text", "a", "--model", "demo", "--json")
    assert "<end>" in json.loads(found.stdout)["tokens"]["texts"]


@pytest.mark.parametrize("model", ["/nowhere", __file__])
def test_a_vocabulary_that_cannot_be_read(run: Run, model: str) -> None:
    found = run("next", SCHEMA, "--model", model)
    assert found.returncode == 2
    assert model in found.stderr
    assert "Traceback" not in found.stderr
