"""Batches of the corpus: examples tokenised, sorted by length, packed to a budget of tokens."""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from examples.demo_model.corpus import Example, example
from examples.demo_model.exchange import Exchange

SCALAR = re.compile(r'(?<=[\[ ])("(?:[^"\\]|\\.)*"|-?\d[\d.]*|true|false|null)(?=[,\]}])')


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of one example: the rendered prompt, and the answer with its end token."""

    prompt: list[int]
    answer: list[int]

    @property
    def length(self) -> int:
        """Tokens altogether."""
        return len(self.prompt) + len(self.answer)


@dataclass(frozen=True, slots=True)
class Batch:
    """``ids`` [rows, length], flat positions ``at`` [n] that predict ``targets`` [n]."""

    ids: Tensor
    at: Tensor
    targets: Tensor
    tokens: int

    def to(self, device: torch.device) -> "Batch":
        """The batch on a device."""
        ids, at, targets = self.ids.to(device), self.at.to(device), self.targets.to(device)
        return Batch(ids, at, targets, self.tokens)


def render(tokenizer: PreTrainedTokenizerFast, drawn: Example) -> str:
    """The prompt, exactly as the checkpoint's chat template renders a request."""
    schema = drawn.schema and json.dumps(drawn.schema, separators=(",", ":"), ensure_ascii=False)
    text = tokenizer.apply_chat_template(
        list(drawn.messages),
        tools=list(drawn.tools) or None,
        response_schema=schema,
        add_generation_prompt=True,
        tokenize=False,
    )
    assert isinstance(text, str)  # not token ids
    return text


def end_and_pad(tokenizer: PreTrainedTokenizerFast) -> tuple[int, int]:
    """The id of the token that ends an answer, and that of the one that pads rows."""
    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    assert isinstance(end, int)
    assert isinstance(pad, int)
    return end, pad


def encode(tokenizer: PreTrainedTokenizerFast, drawn: Example) -> Encoded:
    """The token ids of an example."""
    prompt = tokenizer.encode(render(tokenizer, drawn), add_special_tokens=False)
    answer = tokenizer.encode(drawn.answer, add_special_tokens=False)
    end, _ = end_and_pad(tokenizer)
    return Encoded(prompt, [*answer, end])


def value_spans(tokenizer: PreTrainedTokenizerFast, answer: str) -> list[tuple[int, int]]:
    """For every scalar in a JSON answer, the range of answer tokens that touch it."""
    offsets = tokenizer(answer, add_special_tokens=False, return_offsets_mapping=True)[
        "offset_mapping"
    ]
    spans: list[tuple[int, int]] = []
    for match in SCALAR.finditer(answer):
        touching = [i for i, (a, b) in enumerate(offsets) if a < match.end() and b > match.start()]
        spans.append((touching[0], touching[-1] + 1))
    return spans


def pack(rows: list[Encoded], pad: int) -> Batch:
    """One batch of the rows, padded on the right."""
    length = max(row.length for row in rows) - 1
    ids = torch.full((len(rows), length), pad)
    at: list[int] = []
    targets: list[int] = []
    for number, row in enumerate(rows):
        whole = [*row.prompt, *row.answer]
        ids[number, : row.length - 1] = torch.tensor(whole[:-1])
        first = number * length + len(row.prompt) - 1
        at.extend(range(first, first + len(row.answer)))
        targets.extend(row.answer)
    return Batch(ids, torch.tensor(at), torch.tensor(targets), sum(row.length for row in rows))


def stream(
    tokenizer: PreTrainedTokenizerFast, seed: int, start: int, level: float, pool: int, budget: int
) -> Iterator[Batch]:
    """Batches of examples ``start`` to ``start + pool``, at most ``budget`` tokens each."""
    rng, exchange = random.Random(f"{seed}/{start}"), Exchange(tokenizer)
    rows: list[Encoded] = []
    for index in range(start, start + pool):
        row = encode(tokenizer, example(seed, index, level=level))
        rows.append(Encoded(*exchange(rng, row.prompt, row.answer)))
    rows = sorted((row for row in rows if row.length <= 1600), key=lambda row: row.length)
    groups: list[list[Encoded]] = [[]]
    for row in rows:
        if groups[-1] and row.length * (len(groups[-1]) + 1) > budget:
            groups.append([])
        groups[-1].append(row)
    rng.shuffle(groups)
    _, pad = end_and_pad(tokenizer)
    for group in groups:
        yield pack(group, pad)
