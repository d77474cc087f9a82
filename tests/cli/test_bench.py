"""Load on a server: what is offered, what comes back, what is told of it."""

from __future__ import annotations

import asyncio
import json
import math
import random
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from maskwright.cli.load.client import Outcome, offer
from maskwright.cli.load.picture import draw
from maskwright.cli.load.point import Objective, summarize
from maskwright.cli.load.shapes import SHAPES
from maskwright.cli.load.traffic import BURST, Cell, arrivals, matrix
from maskwright.engine import Engine, EngineConfig
from maskwright.errors import OverloadedError
from maskwright.models import LoadedModel, load
from maskwright.server import create_app
from tests.bounds import PATIENCE
from tests.cli.conftest import Run
from tests.engine.tiny import save_checkpoint
from tests.live_server import live_server
from tests.server.scripted import ByteModel, Script, ScriptedEngine

CELL = Cell(4, 8, "", 0.0, "none")
CELLS = matrix([2, 30], [8, 64], ["", "batch"], [0.0], ["none", "regex"])
AIM = Objective(1.0, 0.1)


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
            *("--shapes", "none,regex", "--picture", picture, "--json", rows),
        )
    assert (found.returncode, "failed:" in found.stderr) == (0, False), found.stderr
    told = [json.loads(line) for line in rows.read_text().splitlines()]
    asked = [(row["pattern"], row["rate"]) for row in told]
    assert asked == [(p, r) for p in ("steady", "burst", "adversarial") for r in (10, 20)]
    for row in told:
        assert row["ends"] == {"answered": row["sent"]}
        assert row["sent"] == 0.4 * row["rate"]
        assert row["valid"] == row["shaped"] <= row["sent"]
        assert 0 < row["ttft_p50"] <= row["ttft_p99"]
        assert row["tokens_a_second"] > 0
        assert row["pattern"] in found.stdout
    assert sum(row["shaped"] for row in told) > 5
    ElementTree.fromstring(picture.read_text())


def ask(url: str, cells: list[Cell], drain: float = PATIENCE) -> list[Outcome]:
    return asyncio.run(offer(url, [(0.0, cell) for cell in cells], drain, seed=1))


def scripted(script: Script, refuse: Any = lambda _: None) -> Any:
    engine = ScriptedEngine(cast(Any, ByteModel()), script, refuse)
    return live_server(create_app(cast(Any, engine)))


def test_what_a_client_sees() -> None:
    with scripted(Script(["a", "b", "c"], pause=0.05)) as url:
        good, wrong = ask(url, [CELL, Cell(4, 8, "", 0.0, "regex")])
        assert (good.end, good.valid, len(good.gaps)) == ("answered", True, 2)
        assert (wrong.end, wrong.valid) == ("answered", False)
        assert cast(float, good.ttft) > 0.049
        assert cast(float, good.seconds) > 0.149
        assert cast(float, good.ttft) + sum(good.gaps) == pytest.approx(good.seconds)
        assert ask(url, [Cell(4, 8, "bulk", 0.0, "none")])[0].reason.startswith("400 ")
    with scripted(Script(), lambda _: OverloadedError("full", retry_after=1.2)) as url:
        (refused,) = ask(url, [CELL])
        assert (refused.end, refused.retry_after) == ("refused", 2.0)
    with scripted(Script(["a"] * 9, pause=1.0)) as url:
        assert ask(url, [CELL], drain=0.2)[0].end == "unfinished"
    assert ask("http://127.0.0.1:9", [CELL])[0].end == "failed"


@pytest.mark.parametrize("pattern", ["steady", "burst", "adversarial"])
def test_a_pattern_keeps_its_rate(pattern: Any) -> None:
    load = arrivals(pattern, 10.0, 8.0, CELLS, random.Random(1))
    times = [at for at, _ in load]
    assert len(load) == 80
    assert times == sorted(times)
    assert 7.0 < times[-1] < 8.0
    together = max(times.count(at) for at in times)
    assert together == (1 if pattern == "steady" else BURST)
    kinds = {(cell.words, cell.cap) for _, cell in load}
    assert kinds == ({(2, 64), (30, 8)} if pattern == "adversarial" else
                     {(2, 8), (2, 64), (30, 8), (30, 64)})  # fmt: skip
    if pattern != "adversarial":
        assert {cell for _, cell in load} == set(CELLS)


def test_prompts_are_of_their_length_and_share_nothing() -> None:
    bodies: list[Any] = [Cell(20, 8, "batch", 0.5, "regex").body(seed) for seed in range(50)]
    texts = [body["messages"][0]["content"].split() for body in bodies]
    assert all(len(text) == 20 for text in texts)
    assert len({text[0] for text in texts}) == 50
    assert bodies[0]["maskwright"] == {"service": "batch"}
    assert "maskwright" not in CELL.body(1)


def test_a_point_is_the_sum_of_its_requests() -> None:
    found = [Outcome(CELL, "answered", ttft=0.1 * n, seconds=0.1 * n + 0.9, tokens=10,
                     gaps=[0.01 * n], valid=True) for n in range(1, 21)]  # fmt: skip
    found += [Outcome(CELL, "refused"), Outcome(CELL), Outcome(CELL, "answered", ttft=0.1)]
    point = summarize("steady", 5.0, 4.0, found, Objective(1.0, 0.1001))
    assert point.ends == {"answered": 21, "refused": 1, "unfinished": 1}
    assert point.goodput == 10 / 4, "late, refused, unfinished and wrong answers are not good"
    assert point.ttft == pytest.approx((1.0, 1.9, 2.0))
    assert point.gap == pytest.approx((0.1, 0.19, 0.2))
    assert point.tokens_a_second == pytest.approx(200 / 4)
    nothing = summarize("burst", 5.0, 4.0, [Outcome(CELL)], AIM)
    assert (nothing.goodput, math.isnan(nothing.ttft[0]), nothing.row()["ttft_p50"]) == (
        0.0, True, None,
    )  # fmt: skip
    ElementTree.fromstring(draw([point, nothing], "a < b"))


@pytest.mark.parametrize(
    ("shape", "text", "holds"),
    [
        ("schema", '{"name": "A", "age": 3, "member": true}', True),
        ("schema", '{"name": "A", "age": 3}', False),
        ("schema", '{"name": "A", "age": true, "member": true}', False),
        ("schema", '{"name": "A", "age": 130, "member": true}', False),
        ("schema", '{"name": "A", "age": 3', False),
        ("schema", "[]", False),
        ("regex", "AB-1234-xyz", True),
        ("regex", "AB-1234-xyz\n", False),
        ("none", "", True),
    ],
)
def test_answers_are_checked_without_their_grammar(shape: Any, text: str, holds: bool) -> None:
    assert SHAPES[shape].holds(text) is holds


def test_a_server_that_is_not_there(run: Run) -> None:
    found = run("bench", "serve", "--url", "http://127.0.0.1:9/v1")
    assert (found.returncode, found.stdout) == (3, "")
    assert "no server answers at http://127.0.0.1:9" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "either --url or --self"),
        (("--url", "x", "--self"), "either --url or --self"),
        (("--self", "--rates", "1,0"), "--rates 1,0: numbers"),
        (("--self", "--shapes", "xml"), "xml: it is none of none, schema, regex"),
        (("--self", "--patterns", "calm"), "steady, burst, adversarial"),
        (("--self", "--json", "/no/such/folder/x"), "can't write"),
    ],
)
def test_options_that_cannot_be(run: Run, arguments: tuple[str, ...], told: str) -> None:
    found = run("bench", "serve", *arguments)
    assert found.returncode == 2
    assert told in found.stderr
    assert "Traceback" not in found.stderr
