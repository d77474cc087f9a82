"""`maskwright chat`, and `generate --url`, which asks a server as it does."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import jsonschema
import pytest

from maskwright.server import ServerConfig
from maskwright.server.access import ApiKey, KeyRing, digest_of
from tests.bounds import PATIENCE
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
    """Of many persons: a short answer may be complete before its reader is woken."""
    recorder = Recorder()
    monkeypatch.setattr(sys, "stdout", recorder)
    place = ("--url", url) if where == "a server" else ()
    persons = {"type": "array", "items": PERSON, "minItems": 12, "maxItems": 12}
    found = run("generate", json.dumps(persons), "--prompt", ASKED, *place)
    assert found.returncode == 0, found.stderr
    assert len([piece for piece in recorder.pieces if piece.strip()]) > 3
    jsonschema.validate(json.loads(recorder.getvalue()), persons)


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
    answer = json.loads(run(*asked, "--json").stdout)
    assert answer["text"] == run(*asked).stdout.rstrip("\n")
    assert answer["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] > 0
    short = run(*asked, "--max-tokens", str(answer["usage"]["completion_tokens"] - 2))
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


class Terminal:
    """A chat in a terminal: what is typed, and all that has been shown."""

    def __init__(self, program: subprocess.Popen[bytes], screen: int) -> None:
        self.program = program
        self.shown = b""
        self._screen = screen

    def write(self, keys: bytes) -> None:
        os.write(self._screen, keys)

    def until(self, wanted: Callable[[bytes], bool]) -> None:
        """Read until what is shown is as wanted, or the chat has ended."""
        end = time.monotonic() + PATIENCE
        while not wanted(self.shown) and time.monotonic() < end:
            if select.select([self._screen], [], [], 1.0)[0]:
                try:
                    self.shown += os.read(self._screen, 4096)
                except OSError:  # it has ended
                    break
        assert wanted(self.shown), self.shown


def interrupted(program: subprocess.Popen[bytes]) -> int:
    """The exit code of a program at a prompt that is interrupted. Python doesn't notice a signal
    between its look for one and its wait for a key, and is interrupted again, as by a reader."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        program.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return program.wait(5.0)
    raise AssertionError("it goes on")


@contextmanager
def terminal(shape: str, url: str) -> Generator[Terminal]:
    mine, its = pty.openpty()
    command = [sys.executable, "-m", "maskwright", "chat", shape, "--url", url]
    given = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=given) as program:
        os.close(its)
        try:
            yield Terminal(program, mine)
        finally:
            program.kill()
            os.close(mine)


def test_a_terminal_has_a_prompt_and_ends_with_the_input(url: str) -> None:
    with terminal("/yes/", url) as chat:
        chat.write(b"Is it?\n")
        chat.until(lambda shown: shown.count(b"yes") == 1 and shown.count(b"> ") == 2)
        chat.write(b"\x1b[A\n")  # the line before
        chat.until(lambda shown: shown.count(b"yes") == 2 and shown.count(b"> ") == 3)
        chat.write(b"\x04")
        assert chat.program.wait(PATIENCE) == 0
        assert b"a line is a message; /shape SHAPE" in chat.shown
        assert b"no /" not in chat.shown


def test_an_interrupt_ends_an_answer_and_at_the_prompt_the_chat(url: str) -> None:
    with terminal("/[ab]{1500}/", url) as chat:
        chat.write(b"Go on.\n")
        chat.until(lambda shown: re.search(rb"[ab]{3}", shown.rpartition(b"Go on.")[2]) is not None)
        chat.program.send_signal(signal.SIGINT)
        chat.until(lambda shown: shown.count(b"> ") == 2)
        assert len(re.findall(rb"[ab]", chat.shown.rpartition(b"Go on.")[2])) < 1500
        chat.write(b"/shape /yes/\nIs it?\n")
        chat.until(lambda shown: shown.endswith(b"> ") and b"yes\r\n" in shown)
        assert interrupted(chat.program) == 130
        assert b"Traceback" not in chat.shown
