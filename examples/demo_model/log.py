"""What a run prints and writes while it goes on, and the checkpoint at its end."""

import argparse
import json

from transformers import PreTrainedTokenizerFast

from examples.demo_model.batches import end_and_pad
from examples.demo_model.held_out import HeldOut, evaluate, greedy, held_out
from examples.demo_model.llama import save
from examples.demo_model.state import State


class Log:
    """The log of a run."""

    def __init__(
        self, state: State, tokenizer: PreTrainedTokenizerFast, options: argparse.Namespace
    ) -> None:
        self.state, self.tokenizer, self.options = state, tokenizer, options
        self.examples: HeldOut = held_out(tokenizer, options.held_out)
        self.end, self.pad = end_and_pad(tokenizer)
        self.evaluated = state.progress.tokens

    def round(self, loss: float, factor: float, level: float, tokens: int, seconds: float) -> None:
        """Print a line about the last `tokens`, and evaluate after enough of them."""
        progress = self.state.progress
        print(
            f"step {progress.step} tokens {progress.tokens / 1e6:.2f}M loss {loss:.3f} "
            f"level {level:.2f} factor {factor:.2f} {tokens / seconds:.0f} tokens/s",
            flush=True,
        )
        if progress.tokens - self.evaluated >= self.options.evaluate_every:
            self.evaluated = progress.tokens
            self.evaluate(loss)

    def evaluate(self, loss: float) -> None:
        """Add a row to the curve, and print one example as the model decodes it."""
        progress, model, device = self.state.progress, self.state.model, self.state.device
        held_loss, exact = evaluate(model, self.examples, self.pad, device)
        row = {
            "step": progress.step,
            "tokens": progress.tokens,
            "minutes": round(progress.seconds / 60, 1),
            "loss": round(loss, 4),
            "held_out_loss": round(held_loss, 4),
            "held_out_values_exact": round(exact, 4),
        }
        with (self.options.work / "curve.jsonl").open("a") as curve:
            curve.write(json.dumps(row) + "\n")
        sample = self.examples.rows[progress.step % len(self.examples.rows)]
        answer = greedy(model, sample.prompt, self.end, device)
        print(row, self.tokenizer.decode(answer), flush=True)

    def finish(self, loss: float) -> None:
        """Write the finished checkpoint, and the last row of the curve."""
        folder, tokenizer = self.options.work / "export", self.tokenizer
        save(self.state.model, folder, self.end, self.pad)
        tokenizer.save_pretrained(folder, save_jinja_files=False)
        self.evaluate(loss)
