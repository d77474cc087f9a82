"""The demo model's training code: its model is transformers' Llama, its runs resume."""

from __future__ import annotations

import json
import random
import time
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing as mp
from transformers import AutoModelForCausalLM, AutoTokenizer

from examples.demo_model.batches import Batch, stream
from examples.demo_model.course import Course, rate_factor
from examples.demo_model.held_out import evaluate, held_out
from examples.demo_model.llama import Model, Shape, load, save
from examples.demo_model.muon import orthogonal
from examples.demo_model.on_device import learn
from examples.demo_model.state import State
from examples.demo_model.train import torch_device
from maskwright.models import DEMO_PATH

SMALL = Shape(vocabulary=64, hidden=32, inner=48, layers=2, heads=4, kv_heads=2, positions=64)
WIDE = Shape(vocabulary=64, hidden=128, inner=48, layers=2, heads=4, kv_heads=2, positions=64)
QUICK = Shape(hidden=64, inner=96, layers=2, heads=2, kv_heads=1)


@pytest.fixture(scope="module")
def batch() -> Batch:
    return next(stream(AutoTokenizer.from_pretrained(DEMO_PATH), 1, 0, 0.0, 16, 1500))


def test_logits_are_those_of_transformers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Model(SMALL)
    save(model, tmp_path, end=1, pad=0)
    twin = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    ids = torch.randint(0, 64, (3, 40))
    at = torch.tensor([0, 5, 39, 40, 79, 119])
    with torch.no_grad():
        model.load_state_dict(twin.model.state_dict())  # the halved weights
        expected = twin(ids).logits.flatten(0, 1)[at]
        torch.testing.assert_close(model(ids, at), expected, atol=1e-4, rtol=1e-4)


def test_half_products_give_nearly_the_same_gradients() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(20, 32, requires_grad=True), Model(SMALL).layers[0].mlp.up_proj
    weight(x).pow(2).sum().backward()
    half = weight.weight.grad.clone()
    weight.weight.grad = None
    torch.nn.functional.linear(x, weight.weight).pow(2).sum().backward()
    error = (half - weight.weight.grad).norm() / weight.weight.grad.norm()
    assert 0 < error < 0.02


def test_two_heads_start_by_looking_one_and_two_tokens_back() -> None:
    torch.manual_seed(0)
    model = Model(WIDE)
    layer = model.layers[0]
    x = layer.input_layernorm(model.embed_tokens(torch.randint(0, 64, (1, 40))))
    attention, size = layer.self_attn, WIDE.head
    q = attention.q_proj(x)[0].view(40, -1, size).transpose(0, 1)[:2]
    k = attention.k_proj(x)[0].view(40, -1, size).transpose(0, 1)[:1]

    def rotate(t: torch.Tensor) -> torch.Tensor:
        left, right = t.chunk(2, -1)
        return t * model.cos[:40] + torch.cat((-right, left), -1) * model.sin[:40]

    scores = rotate(q) @ rotate(k).mT
    by_distance = torch.stack([scores.diagonal(-d, 1, 2).mean(1) for d in range(30)], 1)
    assert by_distance.argmax(1).tolist() == [1, 2]


def test_muon_steps_are_nearly_orthogonal() -> None:
    torch.manual_seed(0)
    for shape in ((3, 8, 20), (3, 20, 8)):
        values = torch.linalg.svdvals(orthogonal(torch.randn(shape)))
        assert 0.6 < values.min() < values.max() < 1.3


def test_a_run_learns_and_resumes(tmp_path: Path, batch: Batch) -> None:
    state = State(tmp_path / "latest.pt", 0.02, QUICK)
    losses = [state.learn(batch, 1.0) for _ in range(4)]
    assert losses[-1] < losses[0] - 0.5
    state.progress.tokens = 77
    state.save()
    resumed = State(tmp_path / "latest.pt", 0.02, QUICK)
    assert resumed.progress == state.progress
    assert torch.equal(resumed.flat(), state.flat())
    assert resumed.learn(batch, 1.0) == state.learn(batch, 1.0)
    torch.testing.assert_close(resumed.flat(), state.flat())


def test_weights_are_adopted_in_order(tmp_path: Path) -> None:
    state = State(tmp_path / "latest.pt", 0.02, QUICK)
    other = torch.randn_like(state.flat())
    state.adopt(other)
    assert torch.equal(state.flat(), other)


def test_evaluation_counts_values() -> None:
    """Logits that always name the right token score one, logits that never do score nothing."""
    tokenizer = AutoTokenizer.from_pretrained(DEMO_PATH)
    examples = held_out(tokenizer, 24)
    order = sorted(range(24), key=lambda i: examples.rows[i].length)

    def oracle(shift: int):
        groups = [order[start : start + 16] for start in (0, 16)]
        answers = [
            torch.tensor([token for i in group for token in examples.rows[i].answer])
            for group in groups
        ]
        return lambda ids, at: torch.nn.functional.one_hot(answers.pop(0) + shift, 4001) * 50.0

    assert evaluate(oracle(0), examples, tokenizer.pad_token_id)[1] == 1.0
    assert evaluate(oracle(1), examples, tokenizer.pad_token_id)[1] == 0.0


def test_the_configuration_is_written(tmp_path: Path) -> None:
    save(Model(SMALL), tmp_path, end=random.Random(1).randint(1, 9), pad=0)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["head_dim"] * config["num_attention_heads"] == config["hidden_size"]
    assert config["tie_word_embeddings"] is True


def test_a_run_starts_from_a_checkpoint(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Model(QUICK)
    save(model, tmp_path, end=1, pad=0)
    state = State(tmp_path / "latest.pt", rate=0.02, shape=QUICK, start=tmp_path)
    load(model, tmp_path)  # the halved weights
    assert torch.equal(state.flat(), torch.nn.utils.parameters_to_vector(model.parameters()))


def options(work: Path, **given: Any) -> Namespace:
    """The options of a run of one round."""
    few: dict[str, Any] = {
        "work": work,
        "tokenizer": DEMO_PATH,
        "seed": 3,
        "workers": 1,
        "minutes": 1e-3,
        "decay_minutes": 0.0,
        "round_seconds": 0.0,
        "easy_tokens": 3e6,
        "batch_tokens": 900,
        "held_out": 3,
        "evaluate_every": 1e9,
        "began": time.time(),
    }
    return Namespace(**{**few, **given})


def train_on_device(work: Path, **given: Any) -> State:
    run = options(work, **given)
    state = State(work / "latest.pt", 0.02, QUICK)
    learn(state, Course.begin(mp.get_context("spawn"), state.progress, run), run)
    return state


def test_one_model_learns_from_batches_of_other_processes(tmp_path: Path) -> None:
    state = train_on_device(tmp_path)
    assert (state.progress.step, state.progress.index) == (1, 384)
    [row] = (tmp_path / "curve.jsonl").read_text().splitlines()
    assert json.loads(row)["tokens"] == state.progress.tokens > 0
    exported = AutoModelForCausalLM.from_pretrained(tmp_path / "export", dtype=torch.float32)
    weights = torch.nn.utils.parameters_to_vector(state.model.parameters()).half().float()
    assert torch.equal(torch.nn.utils.parameters_to_vector(exported.model.parameters()), weights)
    resumed = State(tmp_path / "latest.pt", 0.02, QUICK)
    assert torch.equal(resumed.flat(), state.flat())
    assert resumed.progress == state.progress


def test_a_process_that_fails_to_make_batches_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(mp.ProcessRaisedException, match="TypeError"):
        train_on_device(tmp_path, batch_tokens="many")


def test_what_torch_cannot_compute_on_is_no_device() -> None:
    assert torch_device("cpu") == "cpu"
    with pytest.raises(ArgumentTypeError, match="torch can't compute on 'abacus'"):
        torch_device("abacus")


def test_the_rate_rises_and_falls(tmp_path: Path) -> None:
    run = options(tmp_path, minutes=10, decay_minutes=4)
    assert rate_factor(0, run) == 1 / 50
    assert rate_factor(49, run) == rate_factor(1000, run) == 1.0
    for left, factor in ((4, 1.0), (2, 0.5), (1, 0.25), (0, 0.0), (-1, 0.0)):
        run.began = time.time() - (10 - left) * 60
        assert rate_factor(1000, run) == pytest.approx(factor, abs=0.02)
