from __future__ import annotations

import json

import jsonschema

from tests.cli.conftest import Run

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
ASKED = ("generate", json.dumps(SCHEMA), "--prompt", "Anna Berg, 34, lives in Oslo.")


def test_one_answer_of_the_shape(run: Run) -> None:
    found = run(*ASKED)
    assert found.returncode == 0, found.stderr
    assert found.stdout.endswith("}\n")
    jsonschema.validate(json.loads(found.stdout), SCHEMA)


def test_an_answer_with_the_figures_of_its_tokens(run: Run) -> None:
    plain = run(*ASKED).stdout
    answer = json.loads(run(*ASKED, "--json").stdout)
    assert json.loads(answer["text"]) == json.loads(plain)
    steps = answer["steps"]
    assert "".join(step["text"] for step in steps) == answer["text"]
    assert answer["counts"] == {"tokens": len(steps), "forced": sum(s["forced"] for s in steps)}
    kept = [step["kept"] for step in steps]
    assert answer["kept"] == {"mean": sum(kept) / len(kept), "least": min(kept)}
    assert answer["arrival_ms"] == sorted(answer["arrival_ms"])
    assert len(answer["arrival_ms"]) == len(steps) == answer["trace"]["completion_tokens"]


def test_what_the_limit_shortens_is_reported(run: Run) -> None:
    """Beside the text, which is whole all the same; nothing is said where the limit suffices."""
    ample = run(*ASKED)
    answer = json.loads(run(*ASKED, "--json").stdout)
    assert (answer["shortened_at"], answer["trace"]["shortened_at"]) == (None, None)
    tokens = answer["counts"]["tokens"]
    assert "shortened" not in ample.stderr
    assert run(*ASKED, "--max-tokens", str(tokens)).stdout == ample.stdout
    short = run(*ASKED, "--max-tokens", str(tokens - 1))
    jsonschema.validate(json.loads(short.stdout), SCHEMA)
    assert json.loads(short.stdout) != json.loads(ample.stdout)
    answer = json.loads(run(*ASKED, "--max-tokens", str(tokens - 1), "--json").stdout)
    at, count = answer["shortened_at"], answer["counts"]["tokens"]
    assert answer["finish_reason"] == "length"
    assert answer["trace"]["shortened_at"] == at < count
    line = f"the token limit has shortened the answer from token {at + 1} of {count} on\n"
    assert short.stderr.endswith(line)
    cut = run("generate", "[a-z ]+", "--prompt", "x", "--kind", "regex", "--max-tokens", "3")
    assert cut.stderr.endswith("the token limit has shortened the answer after 3 tokens\n")


def test_a_seed_repeats(run: Run) -> None:
    sampled = (*ASKED, "--temperature", "1.5", "--seed", "5")
    assert run(*sampled).stdout == run(*sampled).stdout


def test_what_cannot_be_done_is_one_line(run: Run) -> None:
    for arguments, message in (
        ((*ASKED, "--max-tokens", "2"), "tokens"),
        ((*ASKED, "--model", "/no/such/folder"), "/no/such/folder"),
        ((*ASKED, "--temperature", "-1"), "temperature"),
        (("generate", '{"type": "str"}', "--prompt", "x"), "/type"),
        (("generate", '{"const": "\udcff"}', "--prompt", "x"), "the schema is not UTF-8"),
        (("generate", "true", "--prompt", "\udcff"), "prompt is not UTF-8"),
    ):
        found = run(*arguments)
        assert found.returncode == 2
        assert message in found.stderr
        assert len(found.stderr.splitlines()) == (3 if message == "/type" else 1)  # with a caret
