"""Every script beside the package is started as its documents say, on the least input.

A script is a file that does something when it is run: a module that looks at `__main__`, or a
shell script. One without a row here fails `test_every_script_has_a_row`.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.report import SKIPPED
from maskwright.engine import Engine, EngineConfig
from maskwright.models import DEMO_PATH, load
from maskwright.server import create_app
from tests.live_server import live_server
from tools.unicode_properties import FILE

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("benchmarks", "examples", "tools")
LIMIT_S = 300.0
"""Seconds after which a script is stopped. They take ten at most, but compile at the first run."""
SUITE = "json-schema-test-suite.jsonl.gz"
BENCH_CASE = {
    "id": "made-up",
    "schema": {"type": "integer"},
    "tests": [{"valid": True, "data": 12}, {"valid": False, "data": "x"}],
}


@dataclass(frozen=True)
class Row:
    """A script, what it is given, and a text that it prints (a pattern).

    `{tmp}` stands for an empty folder, `{url}` for a server of the demo model. `data` is a file of
    the shared data that it needs, `package` one that it needs, `module` that it is started by
    `python -m`; `slow` that it takes more than ten seconds, and is started with `--slow` alone.
    Of the scripts that load a server, every run starts `overhead.py`; `make types` checks the types
    of every script in Python, also of those that few runs start.
    """

    script: str
    arguments: str
    prints: str
    data: str | None = None
    module: bool = False
    package: str | None = None
    slow: bool = False

    @property
    def command(self) -> list[str]:
        """As the script's own documents write it, up to its arguments."""
        if self.script.endswith(".sh"):
            return ["sh", self.script]
        name = self.script.removesuffix(".py").replace("/", ".")
        return ["python", *(("-m", name) if self.module else (self.script,))]


ROWS = [
    Row("benchmarks/budgets.py", "--cases map --answers 1 --tokens 60", "without mean us"),
    Row(
        "benchmarks/conformance.py",
        "--draft draft7 --file boolean_schema.json --list",
        r"draft7 required +18 +18 ",
        data=SUITE,
    ),
    Row("benchmarks/demo_model.py", "--count 1", "exact_values_%"),
    Row(
        "benchmarks/engine.py",
        "--least --parts throughput",
        r"generate \+ xgrammar +repeated +yes",
        slow=True,
    ),
    Row(
        "benchmarks/engine.py",
        "--least --parts load,step,blocks,gaps,prefixes,stores",
        "trie of blocks",
        slow=True,
    ),
    Row("benchmarks/engine.py", "--least --model random-131072 --parts step", "step_ms", slow=True),
    Row(
        "benchmarks/gpu/goals.py",
        "--goals constrained",
        "constrained step, shape: 256 rows, all masks are new",
        package="triton",
        slow=True,
    ),
    Row(
        "benchmarks/gpu/launching.py",
        "--cases decode",
        "decode +141 +113",
        package="triton",
        slow=True,
    ),
    Row("benchmarks/gpu/measure.py", "--tiny --subjects mask", "mask by row numbers", slow=True),
    Row("benchmarks/gpu/measure.py", "--tiny", "engine, structured", slow=True),
    Row(
        "benchmarks/gpu/static.py",
        "--subjects bitmask --targets 90",
        r"bitmask: mask, sm_90",
        package="triton",
        slow=True,
    ),
    Row(
        "benchmarks/grammars.py",
        "--cases semver --engines maskwright,llguidance",
        "llguidance: [0-9]+ disagreements judged, maskwright is wrong in 0",
        slow=True,
    ),
    Row("tools/try_port.py", "0", ""),
    Row("tools/client_suites.py", "--list", "(?m)^langchain$"),
    Row("tools/build_llama_cpp.py", "--flags", "GGML_NATIVE=OFF .*CXX_FLAGS_RELEASE=-O0 "),
    Row("tools/gpu_check.py", "--list", "(?m)^python benchmarks/gpu/measure.py --subjects chain$"),
    Row("tools/sanitize.py", "--list", "(?m)^sanitized: pytest --slow tests/native/test_fuzzed.py"),
    Row("tools/first_mask_classes.py", "", "first mask: [0-9]+ classes"),
    Row("tools/request_functions.py", "", "(?m)^a streamed chat: [0-9]+ functions in"),
    Row("benchmarks/mask_steps.py", "--cases list", "row by name us", slow=True),
    Row(
        "benchmarks/step_cost.py",
        "--vocabularies 4000 --cases greedy,schema --running 2 --steps 5",
        "2 running +schema +4,000",
        slow=True,
    ),
    Row(
        "benchmarks/hostile.py",
        "--match itself --strings 20 --alone 0.2 --settle 0 --patience 100 --again 1",
        r"(?s)stream alone.*\n0 faults",
        slow=True,
    ),
    Row(
        "benchmarks/many_schemas.py",
        "--schemas 6 --again 2 --settle 0",
        "others like them",
        slow=True,
    ),
    Row("benchmarks/forced_function.py", "--answers 10", "forced_function", slow=True),
    Row(
        "benchmarks/first_texts.py",
        "--data {tmp}/cases.jsonl --tokens 60",
        "first_texts",
        slow=True,
    ),
    Row(
        "benchmarks/maskbench.py",
        "--data {tmp}/cases.jsonl --engines maskwright,llguidance --collector python",
        r"(?s)longest_collection_ms.*compile slower_%.*beside llguidance",
        slow=True,
    ),
    Row(
        "benchmarks/maskbench.py",
        "--data {tmp}/cases.jsonl.gz --memory --cases 0 --engines maskwright-any --limit 60",
        "most_MB",
        slow=True,
    ),
    Row("benchmarks/masks.py", "--cases list --rounds 1", "maskwright, budget"),
    Row(
        "benchmarks/server/fuzz_bodies.py",
        "--bodies 12 --settle 0 --patience 200 --within 200",
        r"(?s)200,000 brackets.*\n0 faults in 12 bodies",
        slow=True,
    ),
    Row(
        "benchmarks/server/mixed_requests.py",
        "--requests 16 --settle 0",
        "0 violations in 16 requests",
        slow=True,
    ),
    Row(
        "benchmarks/server/arriving_blocks.py",
        "--streams 2 --rounds 1 --prompt 64 --seconds 0.2 --shared",  # there may be one core only
        "blocks arrive",
        slow=True,
    ),
    Row("benchmarks/server/router.py", "--requests 4 --tokens 2", "whole, added", slow=True),
    Row(
        "benchmarks/server/prefix_skew.py",
        "--rounds 1 --requests 4 --rate 20 --beginnings 4 --tokens 200 --answer 2",
        "(?s)estimate.*round-robin",
        slow=True,
    ),
    Row("benchmarks/server/overhead.py", "--streams 2 --tokens 8 --rounds 1", "server, streams"),
    Row(
        "benchmarks/server/two_versions.py",
        f"{ROOT} --python {sys.executable} --rounds 1",
        "(?s)64 streams.*16 whole",
        slow=True,
    ),
    Row("benchmarks/server/long_prompts.py", "--rounds 1", "[0-9]", slow=True),
    Row(
        "benchmarks/pages/playground.py",
        "--rounds 2 --fields 3",
        "text edited, matches",
        slow=True,
    ),
    Row("benchmarks/start.py", "--runs 1 --parts commands", "next, later +1 +0.4 "),
    Row("benchmarks/tools.py", "--counts 1 --formats json", "json, 1 tools, auto"),
    Row("benchmarks/vocabulary_sizes.py", "--cases list --rounds 1", "tekken, 200,019", slow=True),
    Row("examples/errors.sh", "{url}", "externally_referenced_schema|/properties/owner"),
    Row("examples/openai_client.py", "{url}", r"(?m)^  [0-9]+ x "),
    Row("examples/streaming.py", "{url}", r"\}\n[0-9]+ tokens"),
    Row(
        "examples/extraction/pipeline.py",
        "--out {tmp}/out --url {url}",
        "(1[6-9]|2[0-4]) orders in orders.csv, [0-8] in rejected.csv\n(9|10|11|12|13|14)[0-9] of",
    ),
    Row("examples/demo_model/corpus.py", "--count 5 --held-out", "answer: ", module=True),
    Row("examples/demo_model/tokenizer.py", "--out {tmp}/t --count 200", "^$", module=True),
    Row(
        "examples/demo_model/train.py",
        f"--tokenizer {DEMO_PATH} --work {{tmp}}/w --minutes 0.001 --round-seconds 0 --workers 1 "
        "--batch-tokens 500 --held-out 2",
        "held_out_values_exact",
        module=True,
        slow=True,
    ),
    Row(
        "tools/dashboard_pictures.py",
        "--out {tmp}/pictures --seconds 1",
        "dashboard-timeline.png: [0-9]+ KiB",
        slow=True,
    ),
    Row("tools/constants_page.py", "--out {tmp}/constants.md", "^$"),
    Row("tools/settings_page.py", "--out {tmp}/settings.md", "^$"),
    Row("tools/newest_python.py", "--find", r"python3"),
    Row("tools/smoke.py", "", "[36] passed, 0 failed, [03] skipped", slow=True),
    Row(
        "tools/playground_pictures.py",
        "--out {tmp}/pictures",
        "playground.png: [0-9]+ KiB",
        slow=True,
    ),
    Row("tools/unicode_properties.py", "--out {tmp}/properties.json", "properties.json: Unicode"),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server of the demo model."""
    with (
        Engine(load(DEMO_PATH), EngineConfig(max_running=4)) as engine,
        live_server(create_app(engine)) as address,
    ):
        yield address


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the root of the repository, where nothing but the package is importable."""
    executable = {"python": sys.executable}.get(command[0], command[0])
    return subprocess.run(
        [executable, *command[1:]],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=(pytest.mark.slow,) if row.slow else ()) for row in ROWS],
    ids=lambda row: f"{row.script} {row.arguments[:24]}".strip(),
)
def test_a_script_does_what_its_documents_say(
    row: Row,
    tmp_path: Path,
    shared_data: Callable[[str], Path],
    request: pytest.FixtureRequest,
) -> None:
    if row.data is not None:
        shared_data(row.data)
    if row.package is not None and importlib.util.find_spec(row.package) is None:
        pytest.skip(f"needs {row.package}")
    if row.script.endswith(".sh") and shutil.which("curl") is None:
        pytest.skip("needs curl")
    if row.script.endswith("pictures.py") and shutil.which("chromedriver") is None:
        pytest.skip("needs chromedriver")
    line = json.dumps(BENCH_CASE) + "\n"
    (tmp_path / "cases.jsonl").write_text(line)
    (tmp_path / "cases.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    address = request.getfixturevalue("url") if "{url}" in row.arguments else ""
    given = [part.format(tmp=tmp_path, url=address) for part in row.arguments.split()]
    found = run(*row.command, *given)
    assert found.returncode == 0, found.stdout + found.stderr
    assert re.search(row.prints, found.stdout), found.stdout + found.stderr
    if row.script.startswith("benchmarks/"):
        assert "…" not in found.stdout
        assert [line for line in found.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.script)
def test_a_script_says_how_it_is_started(row: Row) -> None:
    assert " ".join(row.command) in (ROOT / row.script).read_text()


def scripts() -> set[str]:
    return {
        name
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        for name in [str(path.relative_to(ROOT))]
        if path.suffix == ".sh" or (path.suffix == ".py" and "__main__" in path.read_text())
    }


def test_every_script_has_a_row() -> None:
    assert scripts() == {row.script for row in ROWS}


def test_types_are_checked_in_every_script() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(FOLDERS) <= set(settings["tool"]["pyright"]["include"])


def test_make_bench_runs_every_benchmark() -> None:
    made = run("make", "--dry-run", "bench").stdout
    listed = set(re.findall(r"benchmarks/[\w/]+\.py", made))
    assert listed == {name for name in scripts() if name.startswith("benchmarks/")}


def test_a_benchmark_without_its_data_says_so() -> None:
    found = run("python", "benchmarks/maskbench.py", "--data", "nowhere/cases.jsonl")
    assert (found.returncode, found.stdout) == (SKIPPED, "")
    assert found.stderr.endswith("skipped: cases.jsonl is not in nowhere\n")


def test_a_name_that_there_is_not_is_reported() -> None:
    found = run("python", "benchmarks/masks.py", "--cases", "list,lists")
    assert found.returncode == 2
    assert "no lists; there are person, tool call, open object, list, any JSON" in found.stderr


def test_the_tables_of_unicode_are_those_that_the_script_writes(tmp_path: Path) -> None:
    """Where the package `regex` knows the same Unicode as the tables."""
    out = tmp_path / "properties.json"
    assert run("python", "tools/unicode_properties.py", "--out", str(out)).returncode == 0
    made, there = json.loads(out.read_text()), json.loads(FILE.read_text())
    if made["unicode"] != there["unicode"]:
        pytest.skip(f"regex knows Unicode {made['unicode']}, the tables {there['unicode']}")
    assert made == there
