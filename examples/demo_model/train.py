"""Trains the demo model; resumable, on a schedule of wall-clock time.

    python examples/demo_model/train.py --tokenizer DIR --work DIR --minutes 100

The rate is constant and then falls to zero over the last ``--decay-minutes``; a run that is resumed
(same ``--work``) goes on where its last checkpoint stands, so ``--minutes 20 --decay-minutes 20``
starts the decay at once. The tasks grow from short copying to everything over the first
``--easy-tokens``. ``WORK/curve.jsonl`` gets a row at every evaluation on held-out examples.
"""

import argparse
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from batches import Encoded, encode, pack, stream, value_spans
from corpus import extraction
from llama import Model, Shape, save
from muon import Muon

HELD_OUT_SEED = 1_000_003
POOL = 384


@dataclass(slots=True)
class Progress:
    """Where the run stands."""

    step: int = 0
    tokens: int = 0
    index: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out extraction examples with the token ranges of their values."""

    rows: list[Encoded]
    spans: list[list[tuple[int, int]]]


def held_out(tokenizer: PreTrainedTokenizerFast, count: int) -> HeldOut:
    """The first ``count`` held-out extraction examples."""
    drawn = [extraction(HELD_OUT_SEED, index) for index in range(count)]
    rows = [encode(tokenizer, item) for item in drawn]
    return HeldOut(rows, [value_spans(tokenizer, item.answer) for item in drawn])


@torch.no_grad()
def evaluate(model: Model, examples: HeldOut, pad: int) -> tuple[float, float]:
    """Loss per answer token, and share of values whose every token is the likeliest one."""
    losses, exact, values = 0.0, 0, 0
    counted = 0
    order = sorted(range(len(examples.rows)), key=lambda i: examples.rows[i].length)
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        batch = pack([examples.rows[i] for i in part], pad)
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
def greedy(model: Model, prompt: list[int], end: int, limit: int = 160) -> list[int]:
    """A greedy answer, without a cache: for looking at, on short prompts."""
    ids = list(prompt)
    while len(ids) < len(prompt) + limit:
        logits = model(torch.tensor([ids]), torch.tensor([len(ids) - 1]))
        ids.append(int(logits.argmax(-1)))
        if ids[-1] == end:
            break
    return ids[len(prompt) :]


class Run:
    """Model, optimisers and progress, as one checkpoint holds them."""

    def __init__(self, work: Path, rate: float) -> None:
        torch.manual_seed(0)
        self.path = work / "latest.pt"
        self.model = Model(Shape())
        matrices = [p for n, p in self.model.named_parameters() if p.ndim == 2 and "embed" not in n]
        others = [p for n, p in self.model.named_parameters() if p.ndim != 2 or "embed" in n]
        self.optimisers: list[torch.optim.Optimizer] = [
            Muon(matrices, lr=rate),
            torch.optim.AdamW(others, lr=rate / 5, betas=(0.9, 0.98), weight_decay=0.0),
        ]
        self.rates = (rate, rate / 5)
        self.progress = Progress()
        if self.path.exists():
            self._load()

    def _load(self) -> None:
        state = torch.load(self.path, weights_only=True)
        self.model.load_state_dict(state["model"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.progress = Progress(**state["progress"])

    def save(self) -> None:
        """Write the checkpoint, replacing the last one in one step."""
        progress = self.progress
        state = {
            "model": self.model.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "progress": {k: getattr(progress, k) for k in ("step", "tokens", "index", "seconds")},
        }
        torch.save(state, self.path.with_suffix(".tmp"))
        os.replace(self.path.with_suffix(".tmp"), self.path)

    def learn(self, batch, factor: float) -> float:  # noqa: ANN001
        """One step; the loss before it."""
        loss = F.cross_entropy(self.model(batch.ids, batch.at), batch.targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimiser, rate in zip(self.optimisers, self.rates, strict=True):
            optimiser.param_groups[0]["lr"] = rate * factor
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.progress.step += 1
        self.progress.tokens += batch.tokens
        return loss.item()


def main() -> None:
    """Train until the time is over; save; export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--decay-minutes", type=float, default=25)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--easy-tokens", type=float, default=3e6)
    parser.add_argument("--batch-tokens", type=int, default=6000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--evaluate-every", type=int, default=250)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    run = Run(options.work, options.rate)
    examples = held_out(tokenizer, 200)
    began = last = time.monotonic()
    total, decay = options.minutes * 60, options.decay_minutes * 60
    mean, recent_tokens, recent_time = None, run.progress.tokens, began
    while time.monotonic() - began < total:
        progress = run.progress
        level = min(1.0, progress.tokens / options.easy_tokens)
        for batch in stream(
            tokenizer, options.seed, progress.index, level, POOL, options.batch_tokens
        ):
            now = time.monotonic()
            if now - began >= total:
                break
            progress.seconds, last = progress.seconds + now - last, now
            warm = min(1.0, (progress.step + 1) / 50)
            factor = warm * min(1.0, (total - (now - began)) / decay)
            loss = run.learn(batch, factor)
            mean = loss if mean is None else 0.98 * mean + 0.02 * loss
            if progress.step % 25 == 0:
                speed = (progress.tokens - recent_tokens) / (now - recent_time)
                recent_tokens, recent_time = progress.tokens, now
                print(
                    f"step {progress.step} tokens {progress.tokens / 1e6:.2f}M loss {mean:.3f} "
                    f"level {level:.2f} factor {factor:.2f} {speed:.0f} tokens/s",
                    flush=True,
                )
            if progress.step % options.evaluate_every == 0:
                held_loss, exact = evaluate(run.model, examples, pad)
                row = {
                    "step": progress.step,
                    "tokens": progress.tokens,
                    "minutes": round(progress.seconds / 60, 1),
                    "loss": round(mean, 4),
                    "held_out_loss": round(held_loss, 4),
                    "held_out_values_exact": round(exact, 4),
                }
                with (options.work / "curve.jsonl").open("a") as curve:
                    curve.write(json.dumps(row) + "\n")
                print(row, flush=True)
                print(tokenizer.decode(greedy(run.model, examples.rows[progress.step // options.evaluate_every % 50].prompt, end)), flush=True)
        progress.index += POOL
        run.save()
    run.save()
    save(run.model, options.work / "export", end, pad)
    tokenizer.save_pretrained(options.work / "export", save_jinja_files=False)
    print("final", evaluate(run.model, held_out(tokenizer, 1000), pad), flush=True)


if __name__ == "__main__":
    main()
