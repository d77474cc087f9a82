"""Probabilities of the tokens of a text, as a model gives them, for `trace --probabilities`.

Imports torch, which no other module of this package does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from maskwright.cli.input.shapes import SchemaArgument, Shape, compile_shape
from maskwright.cli.output.progress import progress
from maskwright.errors import InputError
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.mask import Grammar
from maskwright.models import DEMO_PATH, Decoder, LoadedModel, Run, lay_out, load
from maskwright.sampling import SamplingParams, score
from maskwright.sampling.scores import TokenScore
from maskwright.user_cache import user_cache
from maskwright.vocab import Vocabulary
from maskwright.workbench.tokens import token_text

BLOCK_SIZE: Final = 16
"""Positions in a block of the key/value pool."""

ROWS: Final = 128
"""Positions that are computed together, which bounds the memory for their logits."""


LIKELY: Final = 8
"""So many of the model's likeliest tokens are looked at; those that the mask forbids are listed."""


class LikelyToken(NamedTuple):
    """A token, its text, the probability that the model gives it, and whether the mask allows
    it."""

    token: int
    text: str
    raw: float
    is_allowed: bool


class TokenProbability(NamedTuple):
    """The probability of one token after those before it: `raw`, as the model gives it; `masked`,
    given that the mask allows the token, 0 if it doesn't. `kept`: the probability of all tokens
    that the mask allows. `wanted`: tokens that it forbids, among the model's `LIKELY` likeliest
    ones."""

    raw: float
    masked: float
    kept: float
    wanted: tuple[LikelyToken, ...]


def asked_model(
    model: str, shape: Shape, prompt: str, property_order: PropertyOrder
) -> tuple[LoadedModel, Grammar, list[int]]:
    """Return the checkpoint of a folder or of the hub (`demo` is the demo model), a shape compiled
    for its vocabulary, and the token ids of a prompt. Raises InputError."""
    with progress("loading the model"):
        loaded = load(DEMO_PATH if model == "demo" else model, cache=user_cache())
    grammar = compile_shape(shape, loaded.vocab, property_order=property_order)
    schema = shape.schema if isinstance(shape, SchemaArgument) else None
    return loaded, grammar, prompt_tokens(loaded, prompt, schema)


def prompt_tokens(loaded: LoadedModel, prompt: str, schema: object = None) -> list[int]:
    """Return the token ids of a user's message up to the beginning of the answer. A chat template
    sees the JSON Schema `schema`; without a template the prompt is the text itself. Raises
    InputError if there is no token."""
    if loaded.chat_template:
        text = None if schema is None else json.dumps(schema, ensure_ascii=False)
        return loaded.render_chat([{"role": "user", "content": prompt}], response_schema=text)
    tokens = loaded.encode(prompt)
    if not tokens:
        raise InputError(
            "this model has no chat template; give --prompt, a text that TEXT continues",
            param="prompt",
        )
    return tokens


def token_probabilities(
    loaded: LoadedModel, grammar: Grammar, prompt: Sequence[int], tokens: Sequence[int]
) -> Iterator[TokenProbability]:
    """Yield the probability of each of `tokens`, which continue `prompt`, up to the first that the
    grammar doesn't allow. Raises InputError if the model has fewer positions."""
    matcher = grammar.matcher()
    row = np.zeros(grammar.vocabulary.words, np.int32)
    for logits, token in zip(_logits(loaded.decoder, prompt, tokens), tokens, strict=True):
        matcher.fill_mask(row)
        found = score(logits.numpy(), row, token, 0.0, 0, SamplingParams(logprobs=LIKELY))
        is_allowed = bool(int(row[token >> 5]) >> (token & 31) & 1)
        masked = math.exp(min(0.0, found.masked)) if is_allowed else 0.0
        likely = _likely(found, grammar.vocabulary)
        wanted = tuple(each for each in likely if not each.is_allowed)
        yield TokenProbability(math.exp(found.raw), masked, found.kept, wanted)
        if not is_allowed:
            return
        matcher.accept(token)


def next_probabilities(
    loaded: LoadedModel, grammar: Grammar, prompt: Sequence[int], text: bytes, most: int
) -> tuple[list[LikelyToken], float]:
    """Return the `most` likeliest tokens after `prompt` and `text`, which is the beginning of a
    text of the grammar, and the probability of all tokens that may follow. Raises InputError."""
    matcher = grammar.matcher()
    words = np.zeros(grammar.vocabulary.words, np.int32)
    tokens = [*grammar.vocabulary.encode(text)] if text else []
    for token in tokens:
        matcher.accept(token)
    matcher.fill_mask(words)
    *_, logits = _logits(loaded.decoder, prompt, [*tokens, 0])  # for the place of one more
    found = score(logits.numpy(), words, 0, 0.0, 0, SamplingParams(logprobs=most))
    return _likely(found, grammar.vocabulary), found.kept


def _likely(found: TokenScore, vocabulary: Vocabulary) -> list[LikelyToken]:
    """The likeliest tokens of a score, the likeliest first."""
    rows: list[LikelyToken] = []
    for each in found.top:
        text = token_text(vocabulary.tokens[each.token], each.token in vocabulary.eos)
        rows.append(LikelyToken(each.token, text, math.exp(each.raw), each.masked is not None))
    return rows


def _logits(decoder: Decoder, prompt: Sequence[int], tokens: Sequence[int]) -> Iterator[Tensor]:
    """Yield the logits for the place of each of `tokens`: float32 [vocab]. One sequence is
    computed from its beginning to the end, without masks."""
    if not tokens:
        return
    whole = [*prompt, *tokens[:-1]]
    if len(whole) > decoder.max_positions:
        raise InputError(
            f"prompt and text have {len(whole)} tokens; the model has {decoder.max_positions} "
            "positions",
            param="text",
        )
    table = [*range(1, 1 + -(-len(whole) // BLOCK_SIZE))]
    pool = decoder.new_pool(len(table) + 1, BLOCK_SIZE)
    for start in range(0, len(whole), ROWS):
        part = whole[start : start + ROWS]
        # The row of the last token of the prompt is the first that is asked for.
        rows = max(0, min(len(part), start + len(part) - len(prompt) + 1))
        batch = lay_out([Run(part, start, table, rows)], BLOCK_SIZE, decoder.plan)
        with torch.inference_mode():
            logits = decoder.forward(batch.to(decoder.device), pool)
        yield from logits[:rows].cpu()
