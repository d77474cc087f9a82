"""The command `place` says where instances go and what limits them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

QUESTION = """
devices = 3
intra = [1]
inter = [1]
[workload]
requests = 20
prompt = 512
output = 8
[costs]
device = "a100"
model = "13b"
[objectives]
ttft = 0.3
tpot = 0.05
"""


def test_place(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "q.toml"
    file.write_text(QUESTION)
    answer = json.loads(run("place", str(file), "--json").stdout)
    assert answer["devices"] == answer["prefills"] + answer["decodes"] == 3
    assert answer["limit"] == "prefill"
    assert answer["rate"] == answer["prefills"] * answer["instances"][0]["prefill"]
    lines = run("place", str(file)).stdout.splitlines()
    assert lines[0] == "prefill: 2 x (intra 1, inter 1); decode: 1 x (intra 1, inter 1)"
    assert "bottleneck: prefill, by arithmetic" in lines[2]


def test_impossible_questions_are_reported(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "q.toml"
    for change, message in (
        (("devices = 3", ""), "either rate or devices"),
        (("ttft = 0.3", "ttft = 0.001"), "no placement serves this load"),
        (("devices = 3", "devices = 3\nnode = 8"), "node needs rate"),
    ):
        file.write_text(QUESTION.replace(*change))
        found = run("place", str(file))
        assert found.returncode == 2
        assert message in found.stderr
