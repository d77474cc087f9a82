"""Evaluation while training: held-out extraction examples, their loss and their exact values."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from transformers import PreTrainedTokenizerFast

from examples.demo_model.batches import Encoded, encode, pack, value_spans
from examples.demo_model.corpus import extraction
from examples.demo_model.llama import Model

SEED = 1_000_003
CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out extraction examples with the token ranges of their values."""

    rows: list[Encoded]
    spans: list[list[tuple[int, int]]]


def held_out(tokenizer: PreTrainedTokenizerFast, count: int) -> HeldOut:
    """The first ``count`` held-out extraction examples."""
    drawn = [extraction(SEED, index) for index in range(count)]
    rows = [encode(tokenizer, item) for item in drawn]
    return HeldOut(rows, [value_spans(tokenizer, item.answer) for item in drawn])


@torch.no_grad()
def evaluate(
    model: Model, examples: HeldOut, pad: int, device: torch.device = CPU
) -> tuple[float, float]:
    """Loss per answer token, and the share of values whose every token is the likeliest one.

    The answer up to a value is given, so this is a little kinder than decoding freely.
    """
    losses, exact, values, counted = 0.0, 0, 0, 0
    order = sorted(range(len(examples.rows)), key=lambda i: examples.rows[i].length)
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        batch = pack([examples.rows[i] for i in part], pad).to(device)
        logits = model(batch.ids, batch.at)
        losses += F.cross_entropy(logits, batch.targets, reduction="sum").item()
        counted += len(batch.targets)
        right = (logits.argmax(-1) == batch.targets).tolist()
        for i in part:
            exact += sum(all(right[a:b]) for a, b in examples.spans[i])
            values += len(examples.spans[i])
            right = right[len(examples.rows[i].answer) :]
    return losses / counted, exact / values


@torch.no_grad()
def greedy(
    model: Model, prompt: list[int], end: int, device: torch.device = CPU, limit: int = 160
) -> list[int]:
    """A greedy answer, without a cache: for looking at, on short prompts."""
    ids = list(prompt)
    while len(ids) < len(prompt) + limit:
        last = torch.tensor([len(ids) - 1], device=device)
        logits = model(torch.tensor([ids], device=device), last)
        ids.append(int(logits.argmax(-1)))
        if ids[-1] == end:
            break
    return ids[len(prompt) :]
