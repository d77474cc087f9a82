from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from maskwright.cli.observe.diagnose import NEEDED
from maskwright.cli.replay import replayable
from maskwright.cli.serving.serve_work import open_sinks
from maskwright.engine import Engine, EngineConfig
from maskwright.errors import InputError
from maskwright.models import DEMO_PATH, load
from maskwright.server import ServerConfig, TraceFile, create_app
from tests.bounds import PATIENCE, wait_until
from tests.cli.conftest import Run
from tests.live_server import ask_and_leave, live_server

SAY: list[dict[str, Any]] = [{"role": "user", "content": "Anna Berg, 34, lives in Oslo."}]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": PERSON}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "p", "schema": PERSON}}

REQUESTS: list[tuple[str, dict[str, Any], int]] = [
    # the endpoint, the body, and how many answers it has
    ("chat/completions", {"messages": SAY, "max_tokens": 20, "ignore_eos": True}, 1),
    ("chat/completions", {"messages": SAY, "max_tokens": 12, "n": 3, "seed": -5, "top_p": 0.9}, 3),
    ("chat/completions", {"messages": SAY, "response_format": SCHEMA, "stream": True}, 1),
    ("chat/completions", {"messages": SAY, "response_format": SCHEMA, "logprobs": True}, 1),
    ("chat/completions", {"messages": SAY, "tools": [TOOL], "tool_choice": "required"}, 1),
    ("chat/completions", {"messages": SAY, "max_tokens": 9, "truncate_prompt_tokens": 5}, 1),
    ("chat/completions",
     {"messages": SAY, "max_tokens": 30, "frequency_penalty": 1, "bad_words": ["e"], "stop": "z",
      "maskwright": {"timeout": 100, "trace": "tokens"}, "logprobs": True}, 1),
    ("completions", {"prompt": ["Once", [72, 105]], "max_tokens": 8, "n": 2}, 4),
    ("completions", {"prompt": "Hi", "max_tokens": 8, "n": 1, "best_of": 3, "logprobs": 0}, 3),
    ("responses", {"input": "Hello", "max_output_tokens": 10}, 1),
    ("responses", {"input": "Hello", "text": {"format": {"type": "json_object"}},
                   "max_output_tokens": 40}, 1),
    ("chat/completions", {"messages": SAY, "guided_regex": "[ab]{3,9}", "temperature": 2}, 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that a server has written about all of them, and about one that was cancelled."""
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    (file,) = open_sinks(str(path), None, requests=True)
    assert isinstance(file, TraceFile)
    config = ServerConfig(whitespace="compact", chat_template_kwargs={"date_string": "today"})
    loaded = load(DEMO_PATH)
    with (
        Engine(loaded, EngineConfig(max_running=8)) as engine,
        live_server(create_app(engine, config, [file])) as url,
    ):
        for endpoint, body, _ in REQUESTS:
            answer = httpx.post(f"{url}/v1/{endpoint}", json=body, timeout=PATIENCE)
            assert answer.status_code == 200, answer.text
        long = {"messages": SAY, "max_tokens": 2000, "ignore_eos": True}
        before = engine.stats().sampled_tokens
        ask_and_leave(url, long, lambda: engine.stats().sampled_tokens > before + 20)
        wait_until(lambda: engine.idle)
    file.close()
    return path


def test_every_traced_answer_is_reproduced(traces: Path, run: Run) -> None:
    """Streamed or whole, constrained or free, of each endpoint, with drawn and given seeds."""
    lines = [json.loads(line) for line in traces.read_text().splitlines()]
    count = sum(answers for *_, answers in REQUESTS) + 1
    assert len(lines) == count
    assert lines[-1]["finish_reason"] == "cancelled"
    assert len(lines[-1]["output_token_ids"]) > 10
    for line in lines:
        assert line["completion_tokens"] == len(line["output_token_ids"])
        assert line["prompt_tokens"] == len(line["prompt_token_ids"])
    found = run("replay", traces)
    assert found.stdout.splitlines()[-1] == f"{count} of {count} answers are equal"
    assert found.returncode == 0
    assert "traced by" not in found.stdout


def changed(traces: Path, folder: Path, **changes: Any) -> Path:
    """A file with the first trace alone, with some fields changed."""
    line = json.loads(traces.read_text().splitlines()[0])
    file = folder / "changed.jsonl"
    file.write_text(json.dumps(line | changes) + "\n")
    return file


def test_a_difference_is_shown(traces: Path, run: Run, tmp_path: Path) -> None:
    line = json.loads(traces.read_text().splitlines()[0])
    tokens, prompt, asked = line["output_token_ids"], line["prompt_token_ids"], line["request"]
    other = [*tokens[:3], tokens[3] + 1, *tokens[4:]]
    for changes, message in (
        ({"output_token_ids": other}, f"the answer differs at token 3: traced {tokens[3] + 1} "),
        ({"output_token_ids": tokens[:5]}, "the answer differs at token 5: traced the end, "),
        ({"output_token_ids": [*tokens, 1]}, f"the answer differs at token {len(tokens)}: "),
        ({"prompt_token_ids": [*prompt[:-1], 0]}, f"the prompt differs at token {len(prompt) - 1}"),
        ({"request": {**asked, "max_tokens": 3}}, "the answer differs at token 3"),
        ({"request": {**asked, "temperature": "hot"}}, "can't be replayed: the request is"),
        ({"adapter": "mine"}, "can't be replayed: it needs --adapter mine=FOLDER"),
        ({"system_fingerprint": "fp_other"}, "traced by fp_other, this is fp_"),
    ):
        found = run("replay", changed(traces, tmp_path, **changes))
        assert message in found.stdout
        assert found.returncode == (0 if "system_fingerprint" in changes else 1)


def test_another_seed_is_another_answer(traces: Path, run: Run, tmp_path: Path) -> None:
    """So that equality means something: the answer was drawn."""
    line = json.loads(traces.read_text().splitlines()[0])
    found = run("replay", changed(traces, tmp_path, seed=line["seed"] ^ 1))
    assert found.returncode == 1
    assert "the answer differs" in found.stdout


def test_one_request_can_be_chosen(traces: Path, run: Run) -> None:
    lines = [json.loads(line) for line in traces.read_text().splitlines()]
    found = run("replay", traces, "--request", lines[1]["request_id"])
    assert found.stdout.splitlines()[-1] == "3 of 3 answers are equal"


def test_a_whole_last_line_without_its_end_counts(traces: Path, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "cut.jsonl"
    file.write_text("\n".join(traces.read_text().splitlines()[:2]))
    assert run("replay", file).stdout.splitlines()[-1] == "2 of 2 answers are equal"


def test_a_last_line_that_is_being_written_is_left_out_with_a_remark(
    traces: Path, run: Run, tmp_path: Path
) -> None:
    first, second = traces.read_text().splitlines()[:2]
    file = tmp_path / "cut.jsonl"
    file.write_text(f"{first}\n{second[:100]}")
    found = run("replay", file)
    assert found.stdout.splitlines()[-1] == "1 of 1 answers are equal"
    assert "cut.jsonl:2: left out, since the line has no end yet" in found.stderr
    file.write_text(f"{first}\n")
    assert "left out" not in run("replay", file).stderr


@pytest.mark.parametrize("name", ["request", "settings", "seed", "output_token_ids"])
def test_a_trace_without_what_it_needs_is_refused(
    traces: Path, run: Run, tmp_path: Path, name: str
) -> None:
    for value in ({}, {name: None}):
        line = json.loads(traces.read_text().splitlines()[0])
        del line[name]
        file = tmp_path / "less.jsonl"
        file.write_text(json.dumps(line | value) + "\n")
        found = run("replay", file)
        assert found.returncode == 2
        (message,) = found.stderr.splitlines()
        assert f"has no {name}; 'serve --trace FILE --trace-requests' writes" in message


def test_a_file_without_requests_is_reported(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    for text, message in (
        ("", "has no such trace"),
        ("x", "has no such trace"),
        ("x\n", "traces.jsonl:1: not JSON"),
        ('{"request_id": "a"}', "received is missing"),
        ('{"request_id": "a"}\n', "received is missing"),
        (f"{json.dumps(dict.fromkeys(NEEDED, 1))}\n", "--trace-requests' writes"),
    ):
        file.write_text(text)
        found = run("replay", file)
        assert found.returncode == 2
        assert message in found.stderr
    assert run("replay", tmp_path / "none").returncode == 2
    with pytest.raises(InputError, match="needs --trace FILE"):
        open_sinks(None, None, requests=True)


def test_a_body_asks_for_one_answer_with_its_seed() -> None:
    line = {
        "request": {"prompt": ["a", "b"], "n": 2, "stream": True, "seed": 1, "top_p": 0.5,
                    "maskwright": {"timeout": 1, "service": "batch", "trace": True,
                                   "numbers": "any", "unusable_tools": "omit"}},
        "seed": (1 << 64) - 2,
        "prompt_token_ids": [5],
    }  # fmt: skip
    assert replayable(line) == {
        "prompt": [5], "seed": -2, "top_p": 0.5,
        "maskwright": {"service": "batch", "numbers": "any", "unusable_tools": "omit"},
    }  # fmt: skip
