"""What engine.py compares with the engine: transformers' `generate` on a static batch, without a
schema or with another library's logits processor, and transformers' continuous batching."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import llguidance
import llguidance.torch
import torch
import xgrammar
from torch import Tensor
from transformers import (
    ContinuousBatchingConfig,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
)

from benchmarks.peers.engine_subjects import Subject

Made = tuple[float, int, list[list[int]]]
"""Seconds, tokens, and the tokens of each answer."""


class LLGuidanceProcessor(LogitsProcessor):
    """A matcher of llguidance for each row; llguidance's threads fill the masks."""

    def __init__(self, tokenizer: llguidance.LLTokenizer, schema: Any, rows: int) -> None:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(
            schema, overrides={"whitespace_flexible": False}
        )
        self._matchers = [llguidance.LLMatcher(tokenizer, grammar) for _ in range(rows)]
        self._executor = llguidance.LLExecutor()
        self._words = llguidance.torch.allocate_token_bitmask(rows, tokenizer.vocab_size)
        self._seen: int | None = None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        if self._seen is not None:
            for matcher, token in zip(self._matchers, input_ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped():
                    matcher.consume_token(token)
        self._seen = input_ids.shape[1]
        pairs = [(matcher, row) for row, matcher in enumerate(self._matchers)]
        llguidance.torch.fill_next_token_bitmask_par(self._executor, pairs, self._words)
        llguidance.torch.apply_token_bitmask_inplace(scores, self._words)
        return scores


class XGrammarProcessor(LogitsProcessor):
    """A matcher of xgrammar for each row."""

    def __init__(self, info: xgrammar.TokenizerInfo, schema: Any, rows: int) -> None:
        compiler = xgrammar.GrammarCompiler(info)
        grammar = compiler.compile_json_schema(json.dumps(schema), any_whitespace=False)
        self._matchers = [xgrammar.GrammarMatcher(grammar) for _ in range(rows)]
        self._words = xgrammar.allocate_token_bitmask(rows, info.vocab_size)
        self._begun = False

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        if self._begun:
            for matcher, token in zip(self._matchers, input_ids[:, -1].tolist(), strict=True):
                if not matcher.is_terminated():
                    matcher.accept_token(token)
        self._begun = True
        for row, matcher in enumerate(self._matchers):
            if not matcher.is_terminated():
                matcher.fill_next_token_bitmask(self._words, row)
        xgrammar.apply_token_bitmask_inplace(scores, self._words)
        return scores


Processor = Callable[[int], LogitsProcessor | None]


def processors(subject: Subject, schema: Any) -> dict[str, Processor]:
    """By name, a function from the number of rows to the processor of one batch. It is called
    before the clock starts, so that compiling isn't measured, as it isn't for our engine."""
    return {
        "generate": lambda rows: None,
        "generate + llguidance": lambda rows: LLGuidanceProcessor(subject.llguidance, schema, rows),
        "generate + xgrammar": lambda rows: XGrammarProcessor(subject.xgrammar, schema, rows),
    }


def continuous(
    model: PreTrainedModel, prompts: Sequence[list[int]], tokens: int, seed: int
) -> tuple[float, int]:
    """Seconds and tokens of transformers' continuous batching, with all prompts at once and without
    a schema. Its pool and its thread are kept from one call to the next."""
    rows = len(prompts)
    generation = GenerationConfig(
        max_new_tokens=tokens,
        min_new_tokens=tokens,
        do_sample=True,
        top_k=0,
        eos_token_id=-1,
        pad_token_id=0,
    )
    batching = ContinuousBatchingConfig(
        page_size=32,
        num_blocks=rows * 24,
        max_batch_tokens=512,
        max_requests_per_batch=rows,
        use_async_batching=False,
        use_cuda_graph=False,
        seed=seed,
    )
    started = time.perf_counter()
    made = model.generate_batch(  # pyright: ignore[reportCallIssue] - of GenerationMixin
        inputs=list(prompts),
        generation_config=generation,
        continuous_batching_config=batching,
        persistent_manager=True,
    )
    seconds = time.perf_counter() - started
    return seconds, sum(len(answer.generated_tokens) for answer in made.values())


def generate(
    model: PreTrainedModel,
    prompts: Sequence[list[int]],
    tokens: int,
    processor: LogitsProcessor | None,
    eos: Sequence[int],
    seed: int,
) -> Made:
    """Generate one batch, padded on the left. Without a processor every answer has `tokens` tokens.
    With one, an answer ends at its end token, and the batch when its last answer does."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts])
    attention = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    torch.manual_seed(seed)
    free = processor is None
    started = time.perf_counter()
    with torch.inference_mode():
        out = model.generate(  # pyright: ignore[reportCallIssue] - of GenerationMixin
            ids,
            attention_mask=attention,
            do_sample=True,
            top_k=0,
            min_new_tokens=tokens if free else None,
            max_new_tokens=tokens,
            logits_processor=LogitsProcessorList([] if processor is None else [processor]),
            pad_token_id=0,
            eos_token_id=list(eos),
        )
    seconds = time.perf_counter() - started
    answers = [_until(row[longest:].tolist(), set() if free else set(eos)) for row in out]
    return seconds, sum(map(len, answers)), answers


def in_batches(
    model: PreTrainedModel,
    batches: Sequence[Sequence[list[int]]],
    tokens: int,
    make: Processor,
    eos: Sequence[int],
    seed: int,
) -> tuple[float, int]:
    """Seconds and tokens of all batches, which run one after the other."""
    made = [
        generate(model, prompts, tokens, make(len(prompts)), eos, seed + number)
        for number, prompts in enumerate(batches)
    ]
    return sum(seconds for seconds, _, _ in made), sum(count for _, count, _ in made)


def _until(tokens: list[int], eos: set[int]) -> list[int]:
    """The tokens up to the first end token, which is included."""
    for place, token in enumerate(tokens, start=1):
        if token in eos:
            return tokens[:place]
    return tokens
