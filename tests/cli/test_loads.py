"""What each command loads: the table of docs/command-line.md, row by row."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from maskwright.cli.program import COMMANDS

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "src" / "maskwright"
IMPORT: Final = "import maskwright"
OTHERS: Final = frozenset(
    {
        *("httptools", "httpx", "huggingface_hub", "jinja2", "jsonschema", "numpy"),
        *("jsonschema_specifications", "msgspec", "opentelemetry", "prometheus_client", "pyarrow"),
        *("pydantic", "ray", "referencing", "safetensors", "starlette", "tokenizers", "torch"),
        *("transformers", "uvicorn", "uvloop", "yaml"),
    }
)
"""What the package depends on, extras included, by the names under which it is imported. What
depends on these in turn is theirs. triton is left out: some builds of torch bring it."""
INTEGER: Final = '{"type": "integer"}'
URL: Final = "http://127.0.0.1:1"
LAYERS: Final = ("--layers", "2", "--kv-heads", "2", "--head-dim", "64")
RUNS: Final[dict[str, tuple[str, ...]]] = {
    "check": (INTEGER,),
    "match": (INTEGER, "--text", "x"),
    "next": (INTEGER,),
    "explain": (INTEGER,),
    "convert": (INTEGER, "--to", "gbnf"),
    "draw": (INTEGER,),
    "diff": (INTEGER, INTEGER),
    "sample": (INTEGER, "--count", "1"),
    "test": ("{cases}",),
    "trace": (INTEGER, "--text", "1"),
    "bench": (INTEGER, "--text", "1", "--rounds", "1", "--no-peers"),
    "from-pydantic": ("json:JSONDecoder",),
    "key": ("a",),
    "plan": ("--memory", "1GB", "--weights", "1MB", *LAYERS),
    "diagnose": ("/no/such/file",),
    "place": ("/no/such/file",),
    "simulate": ("/no/such/file",),
    "status": ("--url", URL),
    "bench serve": ("--url", URL),
    "batch": ("/no/such/file", "out.jsonl", "--url", URL),
    "route": (),
    "generate": (INTEGER, "--prompt", "x"),
    "chat": ("--url", URL),
    "doctor": (),
    "completion": ("bash",),
    "replay": ("/no/such/file",),
    "serve": ("--port", "0"),
}
"""The least that each command does, which may be to refuse a file or to find nobody."""

PROGRAM: Final = """\
import atexit, json, sys
file, code = sys.argv[1:3]
del sys.argv[1:3]
atexit.register(lambda: open(file, "w").write(json.dumps(sorted(sys.modules))))
exec(code)
"""
MAIN: Final = "from maskwright.cli import main; main()"


def table() -> dict[str, tuple[set[str], set[str]]]:
    """What the documents say: by command, the packages of others and the rooms of Maskwright."""
    text = (ROOT / "docs" / "command-line.md").read_text()
    section = text.partition("\n## What a command loads\n")[2].partition("\n## ")[0]
    rows: dict[str, tuple[set[str], set[str]]] = {}
    for line in section.splitlines():
        cells = [set(re.findall(r"`([^`]+)`", cell)) for cell in line.split("|")[1:-1]]
        for name in cells[0] if cells else ():
            assert name not in rows, f"{name} has two rows"
            rows[name] = cells[1], cells[2]
    return rows


TABLE: Final = table()


def loaded(tmp_path: Path, code: str, *arguments: str) -> set[str]:
    """The modules that a program has loaded when it ends; a server is ended when it is ready."""
    file = tmp_path / "modules.json"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(file), code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    )
    if arguments[:1] == ("serve",) and "--help" not in arguments:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert file.exists(), said
    return set(json.loads(file.read_text()))


def others(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules} & OTHERS


def rooms(modules: set[str]) -> set[str]:
    """The packages directly in Maskwright with a module that is loaded."""
    within = {name.split(".")[1] for name in modules if name.startswith("maskwright.")}
    return {name for name in within if (PACKAGE / name).is_dir()}


def test_the_table_has_every_command() -> None:
    assert set(TABLE) == {*COMMANDS, IMPORT}
    assert set(RUNS) == set(COMMANDS)


def test_importing_the_package_loads_nothing_else(tmp_path: Path) -> None:
    modules = loaded(tmp_path, IMPORT)
    assert (others(modules), rooms(modules)) == TABLE[IMPORT] == (set(), set())


@pytest.mark.parametrize("name", RUNS)
def test_a_command_loads_what_the_table_says(tmp_path: Path, name: str) -> None:
    cases = tmp_path / "cases.yaml"
    cases.write_text("- shape: |\n    {}\n  accept: ['1']\n")
    given = (argument.replace("{cases}", str(cases)) for argument in RUNS[name])
    modules = loaded(tmp_path, MAIN, *name.split(), *given)
    assert (others(modules), rooms(modules)) == TABLE[name]


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_loads_no_packages_of_others(tmp_path: Path, name: str) -> None:
    modules = loaded(tmp_path, MAIN, *name.split(), "--help")
    assert others(modules) == set()
    assert not {module for module in modules if module.endswith("_work")}
