"""The logits processor of vLLM, in batches as vLLM's model runner makes them.

vLLM's interface is the installed one, or a stand-in with the names that its documents promise.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from tests.engine.tiny import tokenizer
from tests.integrations.document import example
from tests.integrations.stand_ins import LogitsProcessor, MoveDirectionality, provide

CPU = torch.device("cpu")
PADDING = 9
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@dataclass
class Update:
    """vLLM's BatchUpdate."""

    batch_size: int = 0
    removed: list[int] = field(default_factory=list)
    added: list[Any] = field(default_factory=list)
    moved: list[Any] = field(default_factory=list)


def params(shape: object, max_tokens: int | None = 30) -> SimpleNamespace:
    extra = None if shape is None else {"maskwright": shape, "other": 1}
    return SimpleNamespace(extra_args=extra, max_tokens=max_tokens)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    provide(
        monkeypatch,
        "vllm.v1.sample.logits_processor",
        LogitsProcessor=LogitsProcessor,
        MoveDirectionality=MoveDirectionality,
        BatchUpdate=Update,
    )
    return importlib.import_module("maskwright.integrations.vllm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tokenizer")
    tokenizer().save_pretrained(made)
    return made


def config_of(folder: Path) -> SimpleNamespace:
    """What a processor reads of vLLM's configuration."""
    fast = tokenizer()
    model = SimpleNamespace(
        tokenizer=str(folder),
        tokenizer_revision=None,
        get_vocab_size=lambda: len(fast) + PADDING,
        try_get_generation_config=lambda: {"eos_token_id": [fast.eos_token_id]},
    )
    return SimpleNamespace(model_config=model)


@pytest.fixture
def processor(module: ModuleType, folder: Path) -> Any:
    return module.VllmProcessor(config_of(folder), CPU, False)


def write(processor: Any, answers: dict[int, list[int]], rng: random.Random) -> torch.Tensor:
    """Append a random allowed token to every answer; returns the masked logits."""
    size = processor._vocab.size
    logits = processor.apply(torch.zeros(max(answers) + 1, size))
    for row, tokens in answers.items():
        allowed = logits[row].isfinite().nonzero()[:, 0].tolist()
        tokens.append(rng.choice(allowed))
    return logits


def texts(processor: Any, answers: dict[int, list[int]]) -> dict[int, bytes]:
    return {
        row: b"".join(processor._vocab.tokens[token] for token in tokens)
        for row, tokens in answers.items()
    }


def test_each_request_has_its_shape(processor: Any) -> None:
    rng = random.Random(1)
    shapes = [{"regex": "[a-c]{3}"}, None, {"json_schema": SCHEMA}, '{"choice": ["the cat"]}']
    answers: dict[int, list[int]] = {row: [] for row in range(len(shapes))}
    added = [(row, params(shape), [1, 2], answers[row]) for row, shape in enumerate(shapes)]
    processor.update_state(Update(4, added=added))
    eos = processor._vocab.eos[0]
    for _ in range(31):  # one more than `max_tokens`
        processor.update_state(None)
        logits = write(processor, answers, rng)
        assert logits[1].isfinite().all()
        assert not logits[[0, 2, 3], -PADDING:].isfinite().any()
    found = texts(processor, answers)
    assert len(found[0]) == 3
    assert set(found[0]) <= set(b"abc")
    assert found[3] == b"the cat"
    assert found[2].lstrip().startswith(b"{") and found[2].rstrip().endswith(b"}")  # noqa: PT018
    for row in (0, 2, 3):
        assert answers[row][-1] == eos


def test_requests_leave_come_and_change_places(processor: Any, module: ModuleType) -> None:
    """Places are changed at random; each text must still match its own pattern."""
    rng, ways = random.Random(2), module.MoveDirectionality
    patterns = ["a{5}", "b{5}", "c{5}", "d{5}"]
    answers: dict[int, list[int]] = {}
    letters: dict[int, bytes] = {}

    def add(row: int) -> tuple[Any, ...]:
        pattern = rng.choice(patterns)
        answers[row], letters[row] = [], pattern[0].encode()
        return row, params({"regex": pattern}), None, answers[row]

    processor.update_state(Update(3, added=[add(row) for row in range(3)]))
    for _ in range(40):
        update = Update(len(answers))
        row = rng.randrange(3)
        match rng.choice(["swap", "replace", "move", "nothing"]):
            case "swap":
                other = (row + 1) % 3
                update.moved = [(row, other, ways.SWAP)]
                for each in (answers, letters):
                    each[row], each[other] = each[other], each[row]  # type: ignore[index]
            case "replace":
                update.removed, update.added = [row], [add(row)]
            case "move":  # to the place of one that has left, and another comes to its own
                other = (row + 1) % 3
                update.removed = [other]
                update.moved = [(row, other, ways.UNIDIRECTIONAL)]
                for each in (answers, letters):
                    each[other] = each[row]  # type: ignore[index]
                processor.update_state(update)
                update = Update(3, added=[add(row)])
            case _:
                update = None  # type: ignore[assignment]
        processor.update_state(update)
        write(processor, answers, rng)
        for row, text in texts(processor, answers).items():
            assert text == letters[row] * len(text)
            assert len(text) <= 5


def test_a_limit_ends_the_text_in_time_or_at_once(processor: Any) -> None:
    rng = random.Random(3)
    answers: dict[int, list[int]] = {0: [], 1: []}
    whole, short = params({"regex": "a{3,50}"}, 5), params({"regex": "b{30}"}, 5)
    added = [(0, whole, None, answers[0]), (1, short, None, answers[1])]
    processor.update_state(Update(2, added=added))
    for _ in range(5):
        write(processor, answers, rng)
    assert 3 <= len(texts(processor, answers)[0]) <= 5
    assert set(answers[1]) == set(processor._vocab.eos)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"regex": "("}, "regex|pattern|group|\\("),
        ({"json_schema": {"type": "text"}}, "type"),
        ({"json_schema": "{"}, "not JSON"),
        ("{", "not JSON"),
        ({"regex": 5}, "must be a text"),
        ({"choice": "ab"}, "a list of texts"),
        ({"regex": "a", "choice": ["a"]}, "one of the fields json_schema"),
        ({"pattern": "a"}, "one of the fields json_schema"),
        ([], "one of the fields json_schema"),
    ],
)
def test_a_shape_that_can_not_be_compiled_is_refused_early(
    module: ModuleType, shape: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        module.VllmProcessor.validate_params(params(shape))


def test_other_requests_are_accepted(module: ModuleType) -> None:
    module.VllmProcessor.validate_params(params(None))
    module.VllmProcessor.validate_params(params({"structural_tag": TAG}))


TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "yes"}}


class RandomModel:
    """Stands for vLLM's `LLM`, which makes processors by their names and asks them at each token of
    a request. Its own logits are random."""

    def __init__(self, folder: Path, logits_processors: list[str]) -> None:
        [name] = logits_processors
        module, _, attribute = name.partition(":")
        self.kind = getattr(importlib.import_module(module), attribute)
        self.processor = self.kind(config_of(folder), CPU, False)

    def generate(self, prompt: str, params: Any) -> list[Any]:
        self.kind.validate_params(params)
        vocab, tokens = self.processor._vocab, []
        self.processor.update_state(Update(1, added=[(0, params, list(prompt.encode()), tokens)]))
        while len(tokens) < params.max_tokens:
            logits = self.processor.apply(torch.randn(1, vocab.size))
            token = int(logits[0].argmax())
            if token in vocab.eos:
                break
            tokens.append(token)
        text = b"".join(vocab.tokens[token] for token in tokens).decode()
        return [SimpleNamespace(outputs=[SimpleNamespace(text=text)])]


@pytest.mark.skipif(
    importlib.util.find_spec("vllm") is not None,
    reason="the installed vLLM would look for a model of this name",
)
def test_the_example_of_the_document_runs_as_written(
    module: ModuleType,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    provide(
        monkeypatch,
        "vllm",
        LLM=lambda model, logits_processors: RandomModel(folder, logits_processors),
        SamplingParams=SimpleNamespace,
    )
    torch.manual_seed(1)
    exec(compile(example("vLLM", "py"), "docs/integrations.md", "exec"), {})
    assert isinstance(json.loads(capsys.readouterr().out)["n"], int)


def test_the_command_of_the_document_names_the_processor(module: ModuleType) -> None:
    [name] = re.findall(r"--logits-processors (\S+)", example("vLLM", "sh"))
    assert name == f"{module.__name__}:{module.VllmProcessor.__name__}"
