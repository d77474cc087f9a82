from __future__ import annotations

import json
import shlex
import signal
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from maskwright.cli.arguments import CommandParser, parameters_of, read_options
from maskwright.cli.process.listening import listen
from maskwright.cli.serving.serve import ServeOptions
from maskwright.cli.serving.start import SCHEMA, warm_up
from maskwright.engine import Engine, EngineConfig
from maskwright.errors import InputError
from maskwright.models import load
from maskwright.server import ServerConfig
from maskwright.settings import Option
from tests.api.served_process import served_process
from tests.bounds import PATIENCE, wait_until
from tests.cli.conftest import Run
from tests.engine.tiny import save_checkpoint

PROGRAM = [sys.executable, "-c", "from maskwright.cli import main; main()"]


INTERNAL = {
    EngineConfig: {"classes", "draft_model"},  # --ttft, --tpot and --draft-model say them
    ServerConfig: {"keys", "reader_seconds"},  # --api-key, --api-keys; that of the engine
}


@pytest.mark.parametrize("config", INTERNAL)
def test_every_setting_is_an_option_with_the_same_default(config: type[Any]) -> None:
    options = {each.name: each.default for each in parameters_of(ServeOptions)}
    own = {field.name for field in fields(config)} - INTERNAL[config]
    assert own <= set(options)
    assert {name: options[name] for name in own} == {name: getattr(config(), name) for name in own}


def test_every_setting_has_a_group() -> None:
    assert all(
        each.declared.group
        for each in parameters_of(ServeOptions)
        if isinstance(each.declared, Option)
    )


def read(*given: str) -> ServeOptions:
    return read_options(ServeOptions, CommandParser("maskwright serve", ""), [*given]).settled()


def test_settings_reach_the_part_that_has_them(tmp_path: Path) -> None:
    """From a file, a variable and options, also where one setting serves two parts."""
    file = tmp_path / "it.toml"
    file.write_text('kv-bytes = "1 MiB"\nname = "n"\n[ttft]\nagent = 9\n[adapter]\na = "b"\n')
    found = read("--config", str(file), "--reader-seconds", "7", "--api-key", "k")
    assert (found.engine.kv_bytes, found.server.model_name) == (1 << 20, "n")
    assert (found.engine.reader_seconds, found.server.reader_seconds) == (7.0, 7.0)
    assert {each.name: each.ttft for each in found.engine.classes}["agent"] == 9.0
    assert found.chosen.adapters == {"a": Path("b")}
    assert found.server.keys is not None
    assert read().server.keys is None


def test_a_bad_value_names_the_variable_or_the_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "it.toml"
    file.write_text("# x\nblock-size = 3\n")
    message = "maskwright: --block-size is 3; it must be 4, 8, 16, 32 or 64."
    found = run("serve", "--config", file)
    assert found == (2, "", f"{message} (--block-size is set by {file}:2)\n")
    assert run("serve", "--config", file, "--block-size", "5").stderr == (
        "maskwright: --block-size is 5; it must be 4, 8, 16, 32 or 64.\n"
    )
    monkeypatch.setenv("MASKWRIGHT_BLOCK_SIZE", "3")
    found = run("serve")
    assert (
        found.stderr == f"{message} (--block-size is set by the variable MASKWRIGHT_BLOCK_SIZE)\n"
    )
    assert run("serve", "--block-size", "3").stderr == f"{message}\n"
    file.write_text("block-sise = 3\n")
    assert "did you mean block-size?" in run("serve", "--config", file).stderr


def test_it_says_when_it_is_ready_and_how_to_try_it(tmp_path: Path) -> None:
    """The printed curl line, taken apart as a shell would, gets JSON of the shape it asks for; the
    log and the trace tell of it."""
    traces = tmp_path / "traces.jsonl"
    options = ["--port", "0", "--name", "tried", "--trace", str(traces), "--log-format", "json"]
    server = subprocess.Popen(
        [*PROGRAM, "serve", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        lines = [server.stdout.readline() for _ in range(5)]
        assert lines[0].startswith("maskwright is ready: tried at http://127.0.0.1:")
        _, _, url, _, header, _, body = shlex.split(lines[4])
        name, _, value = header.partition(": ")
        answer = httpx.post(url, content=body, headers={name: value}, timeout=PATIENCE).json()
        assert answer["model"] == "tried"
        jsonschema.validate(json.loads(answer["choices"][0]["message"]["content"]), SCHEMA)
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=PATIENCE)
    finally:
        server.kill()
        server.communicate()
    (trace,) = map(json.loads, traces.read_text().splitlines())
    assert (trace["model"], trace["finish_reason"]) == ("tried", "grammar_complete")
    logged = [json.loads(line) for line in errors.splitlines()]
    assert logged[0]["message"].startswith("memory: ")
    (line,) = (each for each in logged if "path" in each)
    assert (line["path"], line["status"]) == ("/v1/chat/completions", 200)
    assert line["request_id"] == trace["request_id"]


def test_a_log_of_json_has_no_lines_of_libraries(tmp_path: Path) -> None:
    """A model that the transformers library loads, which shows a bar, and a tokenizer that writes a
    warning on a prompt longer than it says."""
    tiny = save_checkpoint(tmp_path / "tiny", hidden_act="gelu")
    settings = tiny / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"model_max_length": 4}))
    with served_process("--model", str(tiny), "--log-format", "json") as served:
        body = {"prompt": "the cat sat " * 4, "max_tokens": 1}
        answer = httpx.post(f"{served.url}/v1/completions", json=body, timeout=PATIENCE)
        assert answer.status_code == 200
        wait_until(lambda: '"path"' in served.logged())
        text = served.logged()
    logged = [json.loads(line) for line in text.splitlines()]
    assert {each["logger"].partition(".")[0] for each in logged} >= {"maskwright"}
    assert [each["path"] for each in logged if "path" in each] == ["/v1/completions"]


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_context_too_short_to_warm_up_in_is_served(tmp_path: Path, blocks: int) -> None:
    tiny = load(save_checkpoint(tmp_path / "tiny"))
    with Engine(tiny, EngineConfig(blocks=blocks, block_size=8)) as engine:
        warm_up(engine)
        assert engine.alive


def test_a_reader_may_have_any_time() -> None:
    listen("127.0.0.1", 0, 1e12).close()
    with pytest.raises(InputError, match="reader_seconds"):
        EngineConfig(reader_seconds=float("inf"))


def test_options_that_cannot_be_are_one_line(run: Run) -> None:
    for arguments, message in (
        (("--block-size", "3"), "--block-size"),
        (("--model", "/no/such/folder"), "/no/such/folder"),
        (("--port", "70000"), "65535"),
        (("--trace", "/no/such/folder/file"), "can't write traces"),
    ):
        free = () if "--port" in arguments else ("--port", "0")
        found = run("serve", *free, *arguments)
        assert found.returncode == 2
        assert message in found.stderr
        assert "Traceback" not in found.stderr


def test_a_port_that_is_taken_is_reported(run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        found = run("serve", "--port", str(port))
    assert found.returncode == 3
    assert f"can't listen on 127.0.0.1 port {port}" in found.stderr
    assert "--port 0" in found.stderr
    assert "Traceback" not in found.stderr


def test_the_port_may_stand_in_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is tried before anything is loaded; an option goes before it."""
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        for variable, options in ((str(port), ()), ("1", ("--port", port))):
            monkeypatch.setenv("MASKWRIGHT_PORT", variable)
            found = run("serve", *options, "--model", "/no/such/model")
            assert found.returncode == 3
            assert found.stderr == (
                f"maskwright: can't listen on 127.0.0.1 port {port}: Address already in use; "
                "--port 0 takes a free one\n"
            )


def test_sizes_have_units(run: Run) -> None:
    found = run("serve", "--port", "0", "--kv-bytes", "50kB")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == (
        "maskwright: --kv-bytes is 50,000 bytes, and a block of 16 tokens takes 73,728 "
        "(72.0 KiB).\n"
    )
