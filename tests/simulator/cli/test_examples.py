"""The files in examples/simulate run by the command that each of them names in its first line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.source_tree import ROOT

EXAMPLES = sorted((ROOT / "examples" / "simulate").iterdir())
DOCUMENT = (ROOT / "docs" / "systems.md").read_text()


def command(example: Path) -> list[str]:
    """The command and its arguments, the last of which is the file."""
    first = example.read_text().partition("\n")[0]
    program, *rest = shlex.split(first.partition(": ")[2])
    assert program == "maskwright"
    assert rest[-1] == str(example.relative_to(ROOT))
    return rest


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_runs(run: Run, example: Path, tmp_path: Path) -> None:
    """With few requests, which is what its time depends on."""
    text, changed = re.subn(r"(?m)^requests = \d+$", "requests = 20", example.read_text())
    assert changed == 1
    file = tmp_path / example.name
    file.write_text(text)
    *rest, _ = command(example)
    found = run(*rest, str(file))
    assert found.returncode == 0, found.stderr
    shown = {"simulate": r"\A20 requests, replicas: ", "place": r"(?m)^bottleneck: "}
    assert re.search(shown[rest[0]], found.stdout)


@pytest.mark.slow
def test_the_documents_tell_what_the_examples_print(run: Run) -> None:
    routing = run("simulate", str(ROOT / "examples/simulate/routing.toml")).stdout
    seconds = re.search(
        r"is ([\d.]+) s by\s+cached prefix, ([\d.]+) s for the least loaded replica and ([\d.]+) s",
        DOCUMENT,
    )
    assert seconds is not None
    for name, figure in zip(
        ("cached", "least-loaded", "round-robin"), seconds.groups(), strict=True
    ):
        printed = re.search(rf"ours, {name} +400 +[\d.]+ +([\d.]+)", routing)
        assert printed is not None
        assert float(printed[1]) == pytest.approx(float(figure), rel=0.03)
    placed = run("place", str(ROOT / "examples/simulate/placement.toml")).stdout
    a_device = re.search(
        r"prints ([\d.]+) requests a second a device with .*? and ([\d.]+)", DOCUMENT
    )
    assert a_device is not None
    assert f"{a_device[1]} a device; without a split {a_device[2]} a device" in placed
