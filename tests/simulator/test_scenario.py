"""Scenarios are read from files, and mistakes in them are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from maskwright.errors import InputError
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.costs.sheet import SheetCosts
from maskwright_sim.costs.work import StepWork
from maskwright_sim.scenario import read_scenario
from tests.source_tree import ROOT

TABLE = {
    "seed": 3,
    "replicas": 2,
    "policies": ["ours", "orca"],
    "routings": ["round-robin", "cached"],
    "workload": {"requests": 20, "rate": 50.0, "prompt": {"mean": 30, "kind": "uniform"}},
    "engine": {"blocks": 200, "max_running": 8},
    "costs": {"fixed": 0.01, "row": 0.001, "token": 0.0001},
    "objectives": {"ttft": 1.0},
}


@pytest.mark.parametrize("name", ["s.json", "s.yaml"])
def test_every_combination_runs(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(TABLE) if name == "s.json" else yaml.safe_dump(TABLE))
    scenario = read_scenario(file)
    assert scenario.costs == LinearCosts(0.01, 0.001, 0.0001)
    runs = scenario.runs()
    assert [run.name for run in runs] == [
        "ours, round-robin",
        "ours, cached",
        "orca, round-robin",
        "orca, cached",
    ]
    assert all(run.figures.answered == 20 for run in runs)


def test_costs_may_be_fitted(tmp_path: Path) -> None:
    steps = [{"decoding": n, "prompt": 0, "seconds": 0.01 + 0.001 * n} for n in range(1, 9)]
    (tmp_path / "steps.jsonl").write_text("\n".join(map(json.dumps, steps)))
    file = tmp_path / "s.json"
    file.write_text(json.dumps({**TABLE, "costs": {"fit": "steps.jsonl"}}))
    scenario = read_scenario(file)
    assert "fitted to 8 steps, median error 0.0 %" in scenario.note
    assert isinstance(scenario.costs, LinearCosts)
    assert scenario.costs.row == pytest.approx(0.001)


def test_each_phase_may_have_a_pool_of_its_own(tmp_path: Path) -> None:
    """Costs of the phases are added up: 30 prompt tokens at 2 ms, and 9 tokens at 20 ms."""
    table = TABLE | {
        "policies": ["ours"],
        "routings": ["round-robin"],
        "workload": {"requests": 4, "rate": 0.1, "prompt": 30, "output": 10},
        "prefill": {"replicas": 2, "costs": {"fixed": 0.0, "row": 0.0, "token": 0.002}},
        "decode": {"engine": {"max_running": 3}},
        "transfer": {"kv_bytes": 10, "bandwidth": 1000, "mode": "request"},
        "costs": {"fixed": 0.02, "row": 0.0, "token": 0.0},
    }
    file = tmp_path / "s.json"
    file.write_text(json.dumps(table))
    together, apart = read_scenario(file).runs()
    assert (together.name, apart.name) == ("ours, round-robin", "prefill 2, decode 1")
    for one in apart.served:
        assert one.ttft == pytest.approx(0.06)
        assert one.transfer == pytest.approx(0.3)
        assert one.seconds == pytest.approx(0.06 + 0.3 + 9 * 0.02)


def test_quantized_weights_are_read_faster(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    for weights, times in (("16", 1.0), ("w4a16", 4.0)):
        costs = {"device": "a100", "model": "13b", "weights": weights}
        file.write_text(json.dumps({**TABLE, "costs": costs}))
        found = read_scenario(file).costs
        assert isinstance(found, SheetCosts)
        reading = found.seconds(StepWork(decoding=1)) - found.device.overhead
        assert reading == pytest.approx(26e9 / times / (2.039e12 * 0.7))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prefill": {}}, "prefill and decode have to be given together"),
        ({"transfer": {}}, "transfer needs prefill and decode"),
        ({"prefill": {"replicas": 0}, "decode": {}}, "prefill needs at least one replica"),
        ({"prefill": {"policy": "orca"}, "decode": {}}, "prefill has no setting 'policy'"),
        ({"prefill": {}, "decode": {}, "transfer": {"mode": "fast"}}, "no mode 'fast'"),
        ({"costs": {"device": "a100", "weights": "w2"}}, "no weights 'w2'"),
        ({"polices": []}, "no setting 'polices'"),
        ({"policies": ["fair"]}, "no policies 'fair'; there are ours"),
        ({"routings": ["best"]}, "no routings 'best'"),
        ({"engine": {"block": 3}}, "no setting 'block'"),
        ({"workload": {"rate": 0.0}}, "rate above 0"),
        ({"workload": {"prompt": {"mean": 3, "kind": "long"}}}, "no kind 'long'"),
        ({"workload": {"pattern": "wave"}}, "no pattern 'wave'"),
        ({"costs": {"device": "tpu"}}, "no device 'tpu'"),
        ({"costs": {"device": "a100", "model": "70b"}}, "does not fit"),
        ({"trace": {"file": "x.csv"}}, "either workload or trace"),
        ({"objectives": 3}, "objectives has to be a table"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps({**TABLE, **change}))
    with pytest.raises(InputError, match=message):
        read_scenario(file)


def test_the_examples_can_be_read() -> None:
    for file in (
        ROOT / "examples" / "simulate" / f"{name}.toml"
        for name in ("policies", "routing", "phases")
    ):
        assert read_scenario(file).demands
