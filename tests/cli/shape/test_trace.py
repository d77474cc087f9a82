from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run

SCHEMA = '{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}'


def test_the_tokens_of_a_text(run: Run) -> None:
    found = run("trace", SCHEMA, "-", "--json", stdin='{"ok": true}\n')
    assert found.returncode == 0
    tokens = json.loads(found.stdout)["tokens"]
    assert "".join(token["text"] for token in tokens) == '{"ok": true}<end>'
    assert all(token["is_allowed"] for token in tokens)
    assert all(token["allowed"] >= 1 for token in tokens)
    assert all(token["microseconds"] > 0 for token in tokens)


def test_a_token_that_is_not_allowed_ends_the_trace(run: Run) -> None:
    found = run("trace", "/abc/", "--text", "abd")
    assert found.returncode == 1
    *_, last, total = found.stdout.splitlines()
    assert last.endswith("not allowed")
    assert total.endswith(" forced")


def test_only_the_end_is_not_allowed_after_the_beginning_of_a_text(run: Run) -> None:
    # As for all commands about texts: 3 for a beginning, 1 for what no text begins with.
    assert run("trace", "/abc/", "--text", "ab").returncode == 3
    assert run("trace", "/abc/", "--text", "").returncode == 3
    assert run("trace", "/abc/", "--text", "abcc").returncode == 1
    assert run("trace", "/abc/", "--text", "abc").returncode == 0


def test_what_is_forced_is_reported(run: Run) -> None:
    found = run("trace", "/hello/", "--text", "hello", "--json")
    tokens = json.loads(found.stdout)["tokens"]
    forced = [token["is_forced"] for token in tokens]
    assert (forced[0], forced[-1]) == (True, False)  # the end is no forced text
    shown = run("trace", "/hello/", "--text", "hello").stdout.splitlines()
    assert shown[1].endswith("  forced")
    assert shown[-1] == f"{len(tokens)} tokens, {sum(forced)} forced"
    assert run("trace", "/x?/", "--text", "").stdout.splitlines()[-1] == "1 token, 0 forced"


def test_one_text_is_needed(run: Run) -> None:
    assert run("trace", SCHEMA).returncode == 2
    assert run("trace", SCHEMA, "-", "--text", "x").returncode == 2


def test_a_prompt_is_for_the_model(run: Run) -> None:
    found = run("trace", "/a/", "--text", "a", "--prompt", "b")
    assert found.returncode == 2
    assert "--prompt needs --probabilities" in found.stderr


def test_probabilities_of_the_tokens(run: Run) -> None:
    asked = ("trace", SCHEMA, "--text", '{"ok": true}', "--probabilities", "--prompt", "Is it?")
    found = run(*asked, "--json")
    assert found.returncode == 0
    tokens = json.loads(found.stdout)["tokens"]
    for token in tokens:
        assert 0 < token["raw"] <= token["kept"] <= 1
        assert token["masked"] == pytest.approx(token["raw"] / token["kept"])
        if token["allowed"] == 1:
            assert token["masked"] == pytest.approx(1)
    other = run(*asked[:-1], "Count to three.", "--json")
    assert json.loads(other.stdout)["tokens"][0]["raw"] != tokens[0]["raw"]
    lines = run(*asked).stdout.splitlines()
    assert lines[0].split() == ["id", "allowed", "µs", "raw", "masked", "kept", "text", "at"]
    assert len(lines) == 1 + len(tokens) + 1
    sums = json.loads(found.stdout)
    assert sums["counts"] == {"tokens": len(tokens), "forced": 0}
    kept = [token["kept"] for token in tokens]
    assert sums["kept"] == {"mean": pytest.approx(sum(kept) / len(kept)), "least": min(kept)}
    wanted = [each for token in tokens for each in token["wanted"]]
    assert wanted
    assert not any(each["is_allowed"] for each in wanted)
    assert all(0 < each["raw"] < 1 for each in wanted)


def test_bytes_state_and_place_of_each_token(run: Run) -> None:
    tokens = json.loads(run("trace", SCHEMA, "--text", '{"ok": true}', "--json").stdout)["tokens"]
    assert bytes.fromhex("".join(token["bytes"] for token in tokens)) == b'{"ok": true}'
    places = {token["text"]: token["at"] for token in tokens}
    assert places["true"] == "/ok"
    assert places["<end>"] == "the whole text"
    assert tokens[0]["state"] != tokens[1]["state"]
    rules = 'start: "(" inner ")"\ninner: "a" | "(" inner ")"\n'
    traced = json.loads(run("trace", rules, "--text", "((a))", "--json").stdout)["tokens"]
    assert any(token["at"].endswith("start > inner") for token in traced)


def test_a_token_that_is_not_allowed_has_no_probability_under_the_mask(run: Run) -> None:
    found = run("trace", "/abc/", "--text", "abd", "--probabilities", "--json")
    assert found.returncode == 1
    *allowed, last = json.loads(found.stdout)["tokens"]
    assert all(token["masked"] > 0 for token in allowed)
    assert (last["is_allowed"], last["masked"]) == (False, 0)
    assert last["raw"] > 0
