"""The command `simulate` prints tables or JSON and draws."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

SCENARIO = """
policies = ["ours", "static"]
[workload]
requests = 12
rate = 100.0
prompt = 20
output = { mean = 8, kind = "exponential" }
[engine]
blocks = 100
max_running = 4
"""


def test_simulate(run: Run, tmp_path: Path) -> None:
    file, picture = tmp_path / "s.toml", tmp_path / "s.svg"
    file.write_text(SCENARIO)
    found = run("simulate", str(file), "--plot", str(picture))
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    assert lines[0] == "12 requests, replicas: 1; costs as given."
    assert [line.split()[0] for line in lines[2:5]] == ["run", "ours", "static"]
    assert picture.read_text().startswith("<svg")
    rows = json.loads(run("simulate", str(file), "--json").stdout)["runs"]
    assert [row["run"] for row in rows] == ["ours", "static"]
    assert rows[0]["answered"] == 12
    assert rows[0]["tokens_per_second"] > rows[1]["tokens_per_second"]


def test_a_mistake_is_reported_in_one_line(run: Run, tmp_path: Path) -> None:
    found = run("simulate", str(tmp_path / "missing.toml"))
    assert found.returncode == 2
    assert "can't read" in found.stderr


def test_a_system_is_simulated(run: Run) -> None:
    found = run("simulate", "vllm", "--size", "0.3")
    assert found.returncode == 0
    assert "paged blocks: unused share" in found.stdout
    claims = json.loads(run("simulate", "vllm", "--size", "0.3", "--json").stdout)["claims"]
    assert claims[0]["on"] < claims[0]["off"]
