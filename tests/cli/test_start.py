"""What a command imports before it answers: the whole of its start time."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

SERVER = ("torch", "transformers", "tokenizers", "starlette", "uvicorn", "httpx", "pydantic")
OTHER_SHAPES = (
    "maskwright.grammar.dialects.lark",
    "maskwright.grammar.tags.rules",
    "maskwright.grammar.tools.tools",
    "maskwright.mask.compile.rules",
)
COMPILERS = ("numpy", "referencing", "maskwright.mask.grammar")
# To ask another server about records takes a client and a validator only.
NOT_FOR_RECORDS = (*sorted({*SERVER, *COMPILERS} - {"httpx", "referencing"}), "pyarrow")
WITH_AN_ID = json.dumps(
    {
        "$defs": {"count": {"$id": "https://example.com/count", "type": "integer"}},
        "$ref": "https://example.com/count",
    }
)
LAYERS = ("--layers", "2", "--kv-heads", "2", "--head-dim", "64")
# What the transformers library imports with the code of any model; the demo model is our own.
LIBRARY_MODELS = ("torch.distributed.tensor", "torch._dynamo", "sympy", "transformers")

PROGRAM = """\
import atexit, json, sys
from maskwright.cli import main
file = sys.argv.pop(1)
atexit.register(lambda: open(file, "w").write(json.dumps(sorted(sys.modules))))
main()
"""


def ran(
    tmp_path: Path, *arguments: str, stdin: str = ""
) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """A command in a process of its own, and the modules that are loaded when it ends."""
    file = tmp_path / "modules.json"
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
    )
    return ended, set(json.loads(file.read_text()))


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--help",), (*SERVER, *COMPILERS, "maskwright.cli.shape.check")),
        (("--version",), (*SERVER, *COMPILERS)),
        (("chek",), (*SERVER, *COMPILERS)),
        (("match", '{"type": "integer"}', "-", "--brief"), (*SERVER, *OTHER_SHAPES)),
        (("match", WITH_AN_ID, "-", "--brief"), ("jsonschema_specifications",)),
        (("match", "semver", "-"), SERVER),
        (("match", '{"type": "integer"}', "-"), (*SERVER, *OTHER_SHAPES)),
        (("explain", "invoice"), (*SERVER, *OTHER_SHAPES)),
        (("batch", "--help"), NOT_FOR_RECORDS),
        (("batch", "no.jsonl", "out.jsonl"), NOT_FOR_RECORDS),
        (("convert", "semver", "--to", "gbnf"), SERVER),
        (("plan", "--memory", "1GB", "--weights", "1MB", *LAYERS), (*SERVER, *COMPILERS)),
        (("serve", "--help"), (*SERVER, *COMPILERS)),
        (("generate", "--prompt", "hi", "--max-tokens", "1"), LIBRARY_MODELS),
        (("generate", "{}", "--prompt", "hi", "--model", "/no/folder"), (*SERVER, *COMPILERS)),
        (("replay", "trace.jsonl", "--model", "/no/folder"), (*SERVER, *COMPILERS)),
    ],
)
def test_nothing_is_imported_that_is_not_needed(
    tmp_path: Path, arguments: tuple[str, ...], absent: Iterable[str]
) -> None:
    _, loaded = ran(tmp_path, *arguments, stdin="12")
    assert "maskwright.cli.program" in loaded
    assert sorted(loaded & set(absent)) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--block-size", "3"), "--block-size is 3; it must be 4, 8, 16, 32 or 64."),
        (("--max-running", "0"), "--max-running is 0; it must be a positive integer."),
        (("--drafts", "0", "--draft-model", "x"), "With drafts 0 the draft model is never used"),
        (("--cors-origin", "a.example"), "--cors-origin 'a.example': browsers send origins as"),
        (("--tool-format", "none"), "there is no tool format 'none'"),
        (
            ("--chat-template-kwargs", "[1]"),
            "--chat-template-kwargs: it must be a JSON object",
        ),
        (("--device", "gpu"), "device 'gpu': one of auto, cpu, cuda or cuda:N."),
        (("--ttft", "bulk=1"), "--ttft bulk=1: CLASS=SECONDS is needed"),
        (("--adapter", "name"), "--adapter name: NAME=FOLDER is needed"),
        (("--api-keys", "/no/such/file"), "can't read /no/such/file: No such file or directory"),
        (("--tls-key", "key.pem"), "--tls-certificate and --tls-key are needed together"),
        (("--trace", "/no/such/folder/file"), "can't write traces to /no/such/folder/file"),
        (("--replicas", "2", "--block-size", "3"), "--block-size is 3"),
        (("--model", "/no/such/folder"), "There is no directory /no/such/folder."),
        (("--draft-model", "./none"), "There is no directory ./none."),
    ],
)
def test_a_wrong_option_of_serve_is_reported_before_anything_heavy_is_imported(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    ended, loaded = ran(tmp_path, "serve", *options)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert sorted(loaded & {*SERVER, *COMPILERS}) == []


def test_a_port_that_is_taken_is_reported_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended, loaded = ran(tmp_path, "serve", "--port", str(port))
    assert ended.returncode == 3
    assert f"can't listen on 127.0.0.1 port {port}" in ended.stderr
    assert sorted(loaded & {*SERVER, *COMPILERS}) == []


def test_a_class_that_a_key_names_is_checked_before_anything_heavy_is_imported(
    tmp_path: Path,
) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(f'[[key]]\nname = "a"\nsha256 = "{64 * "0"}"\nclasses = ["bulk"]\n')
    ended, loaded = ran(tmp_path, "serve", "--api-keys", str(keys))
    assert ended.returncode == 2
    assert "the key a names the class 'bulk'; there are interactive, agent, batch" in ended.stderr
    assert sorted(loaded & {*SERVER, *COMPILERS}) == []
