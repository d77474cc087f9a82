"""`maskwright chat`, and `generate --url`, which asks a server as it does."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from maskwright.server import ServerConfig
from maskwright.server.access.keys import ApiKey, KeyRing, digest_of
from tests.cli.conftest import Run
from tests.pages.demo_server import demo_server

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ASKED = "Anna Berg, 34, lives in Oslo."
KEY = "mw-secret"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server of the demo model that has a key."""
    keys = KeyRing([ApiKey("default", digest_of(KEY))])
    with demo_server(ServerConfig(keys=keys)) as served:
        yield served.url


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASKWRIGHT_API_KEY", KEY)


def test_a_server_answers_in_the_shape(run: Run, url: str) -> None:
    for address in (url, f"{url}/v1", f"{url}/"):
        found = run("generate", json.dumps(PERSON), "--prompt", ASKED, "--url", address)
        assert found.returncode == 0, found.stderr
        jsonschema.validate(json.loads(found.stdout), PERSON)
        assert found.stdout.count("\n") == 1


class Recorder(io.StringIO):
    """Standard output that keeps each piece that is written."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return super().write(text)


@pytest.mark.parametrize("where", ["a server", "here"])
def test_an_answer_is_printed_while_it_is_written(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    recorder = Recorder()
    monkeypatch.setattr(sys, "stdout", recorder)
    place = ("--url", url) if where == "a server" else ()
    found = run("generate", json.dumps(PERSON), "--prompt", ASKED, *place)
    assert found.returncode == 0, found.stderr
    assert len([piece for piece in recorder.pieces if piece.strip()]) > 3
    jsonschema.validate(json.loads(recorder.getvalue()), PERSON)


@pytest.mark.parametrize(
    ("shape", "pattern"),
    [("/(yes|no)!/", r"(yes|no)!\n"), ('start: "a" | "b"', r"[ab]\n")],
)
def test_a_server_answers_in_every_kind_of_shape(
    run: Run, url: str, shape: str, pattern: str
) -> None:
    found = run("generate", shape, "--prompt", "Yes?", "--url", url)
    assert re.fullmatch(pattern, found.stdout), found


def test_an_answer_of_a_server_as_json(run: Run, url: str) -> None:
    asked = ("generate", json.dumps(PERSON), "--prompt", ASKED, "--url", url)
    told = json.loads(run(*asked, "--json").stdout)
    assert told["text"] == run(*asked).stdout.rstrip("\n")
    assert told["finish_reason"] == "stop"
    assert told["usage"]["completion_tokens"] > 0
    short = run(*asked, "--max-tokens", str(told["usage"]["completion_tokens"] - 2))
    assert short.stderr.endswith("the token limit has shortened the answer\n")
    jsonschema.validate(json.loads(short.stdout), PERSON)


@pytest.mark.parametrize("option", [(), ("--prompt", "-")])
def test_the_prompt_may_be_standard_input(run: Run, url: str, option: tuple[str, ...]) -> None:
    shape = json.dumps(PERSON)
    given = run("generate", shape, "--prompt", ASKED, "--url", url)
    assert run("generate", shape, *option, "--url", url, stdin=f"{ASKED}\n") == given


def test_what_standard_input_can_not_be(run: Run, url: str) -> None:
    assert "standard input is read once" in run("generate", "-", stdin="{}").stderr
    assert "the prompt is empty" in run("generate", "{}", "--url", url).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "x"), "--model is for a model in this process"),
        (("--numbers", "any"), "--numbers is for a model in this process"),
        (("--api-key", "wrong"), "answers 401"),
        (("--name", "other", "--api-key", "wrong"), "answers 401"),
        (("--max-tokens", "0"), "0 is less than 1"),
    ],
)
def test_what_a_server_can_not_obey_is_refused(
    run: Run, url: str, options: tuple[str, ...], message: str
) -> None:
    found = run("generate", "{}", "--prompt", "x", "--url", url, *options)
    assert found.returncode == 2
    assert message in found.stderr


@pytest.mark.parametrize("command", [("generate", "{}", "--prompt", "x"), ("chat",)])
def test_a_server_that_is_not_there(run: Run, command: tuple[str, ...]) -> None:
    found = run(*command, "--url", "http://127.0.0.1:1")
    assert found.returncode == 3
    assert "no server answers at http://127.0.0.1:1" in found.stderr


def test_each_line_of_a_chat_is_answered(run: Run, url: str) -> None:
    found = run("chat", json.dumps(PERSON), "--url", url, stdin=f"{ASKED}\n\n{ASKED}\n")
    assert found.returncode == 0, found.stderr
    first, second = found.stdout.splitlines()
    jsonschema.validate(json.loads(first), PERSON)
    jsonschema.validate(json.loads(second), PERSON)


def test_what_may_be_said_about_the_chat_itself(run: Run, url: str, tmp_path: Path) -> None:
    """The shape changes, a mistake doesn't end the chat, and `/exit` does."""
    (tmp_path / "yes.regex").write_text("yes|no")
    lines = [
        f"/shape {tmp_path / 'yes.regex'}",
        "Is it?",
        "/shap x",
        "/shape /no/such/file.json",
        "/shape /a{3}/",
        "Is it?",
        "/clear",
        "Is it?",
        "/exit",
        "Is it?",
    ]
    found = run("chat", "--url", url, "--max-tokens", "20", stdin="\n".join(lines))
    first, *others = found.stdout.splitlines()
    assert first in ("yes", "no")
    assert others == ["aaa", "aaa"]
    assert "there is no /shap; there are /shape SHAPE" in found.stderr
    assert "/no/such/file.json: No such file" in found.stderr


def test_a_model_in_this_process_and_a_server_exclude_each_other(run: Run, url: str) -> None:
    found = run("chat", "--url", url, "--model", "x")
    assert (found.returncode, found.stdout) == (2, "")
    assert "--name names a server's model" in found.stderr


def test_a_terminal_has_a_prompt_and_ends_with_the_input(url: str) -> None:
    mine, its = pty.openpty()
    command = [sys.executable, "-m", "maskwright", "chat", "/yes/", "--url", url]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as program:
        os.close(its)
        os.write(mine, b"Is it?\n\x04")
        shown = b""
        while True:
            try:
                part = os.read(mine, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(mine)
    assert program.returncode == 0
    assert b"a line is a message; /shape SHAPE" in shown
    assert b"> " in shown
    assert b"yes" in shown
