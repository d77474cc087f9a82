"""Load on a server: what is offered, what comes back, what is reported of it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from maskwright.cli.bench.client import Cell
from maskwright.engine import Engine, EngineConfig
from maskwright.models import LoadedModel, load
from maskwright.server import create_app
from tests.bounds import PATIENCE
from tests.cli.conftest import Run
from tests.engine.tiny import save_checkpoint
from tests.live_server import live_server

CELL = Cell(4, 8, "", 0.0, "none")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny"))


def test_a_tiny_run_says_what_it_found(tiny: LoadedModel, run: Run, tmp_path: Path) -> None:
    picture, rows = tmp_path / "envelope.svg", tmp_path / "rows.jsonl"
    with (
        Engine(tiny, EngineConfig(blocks=400, max_batch_tokens=128)) as engine,
        live_server(create_app(engine)) as url,
    ):
        found = run(
            *("bench", "serve", "--url", url, "--rates", "10,20", "--seconds", "0.4"),
            *("--drain", str(PATIENCE), "--prompts", "2,4", "--caps", "40"),
            *("--shapes", "none,regex", "--plot", picture, "--rows", rows),
        )
    assert (found.returncode, "failed:" in found.stderr) == (0, False), found.stderr
    made = [json.loads(line) for line in rows.read_text().splitlines()]
    asked = [(row["pattern"], row["rate"]) for row in made]
    assert asked == [(p, r) for p in ("steady", "burst", "adversarial") for r in (10, 20)]
    for row in made:
        assert row["ends"] == {"answered": row["sent"]}
        assert row["sent"] == 0.4 * row["rate"]
        assert row["valid"] == row["shaped"] <= row["sent"]
        assert 0 < row["ttft_p50"] <= row["ttft_p99"]
        assert row["tokens_a_second"] > 0
        assert row["pattern"] in found.stdout
    assert sum(row["shaped"] for row in made) > 5
    ElementTree.fromstring(picture.read_text())


def test_a_server_that_is_not_there(run: Run) -> None:
    found = run("bench", "serve", "--url", "http://127.0.0.1:9/v1")
    assert (found.returncode, found.stdout) == (3, "")
    assert "no server answers at http://127.0.0.1:9" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either --url or --self"),
        (("--url", "x", "--self"), "either --url or --self"),
        (("--self", "--rates", "1,0"), "--rates 1,0: numbers"),
        (("--self", "--shapes", "xml"), "xml: it is none of none, schema, regex"),
        (("--self", "--patterns", "calm"), "steady, burst, adversarial"),
        (("--self", "--rows", "/no/such/folder/x"), "can't write"),
    ],
)
def test_options_that_cannot_be(run: Run, arguments: tuple[str, ...], message: str) -> None:
    found = run("bench", "serve", *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr
