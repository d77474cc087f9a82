"""Tiny random checkpoints, and grammars simple enough to see through, for the engine's tests."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from maskwright.mask.matcher.protocol import ForcedRun
from maskwright.vocab import Vocabulary
from tests.bounds import PATIENCE

CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    "{% if response_schema %}<|schema|>{{ response_schema }}{% endif %}<|assistant|>"
)
WORDS = ["the", " the", " cat", " sat", "ing", '{"', '":', '"}', '", "', "é", " 日", "stop", "top"]
END, PAD = "<|end|>", "<|pad|>"


def tokenizer() -> PreTrainedTokenizerFast:
    """All 256 bytes, a few longer tokens, an end and a pad token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: i for i, letter in enumerate(letters)}
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for word in WORDS:
        vocab.setdefault(level.pre_tokenize_str(word)[0][0], len(vocab))
    raw = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    raw.pre_tokenizer = level
    raw.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END, pad_token=PAD)
    fast.chat_template = CHAT_TEMPLATE
    return fast


def save_checkpoint(
    directory: Path,
    *,
    family: str = "Llama",
    positions: int = 256,
    seed: int = 1,
    padding: int = 13,
    **extra: object,
) -> Path:
    """A random two-layer decoder whose padded vocabulary is larger than the tokenizer's."""
    fast = tokenizer()
    fast.save_pretrained(directory)
    torch.manual_seed(seed)
    shape = {
        "vocab_size": len(fast) + padding,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": positions,
        "bos_token_id": None,
        "eos_token_id": fast.eos_token_id,
        "initializer_range": 0.3,
    }
    config = getattr(transformers, f"{family}Config")(**{**shape, **extra})
    getattr(transformers, f"{family}ForCausalLM")(config).save_pretrained(directory)
    return directory


class LiteralGrammar:
    """Exactly one text, or (with `more`) the text any number of times: the least that the engine
    asks of a grammar, written naively."""

    def __init__(self, vocabulary: Vocabulary, text: bytes, more: bool = False) -> None:
        self.vocabulary, self.text, self.more = vocabulary, text, more
        self.pieces = {token for token in vocabulary.tokens if token and token in text * 2}
        self.lengths: dict[bytes, int] = {}
        self.min_tokens = self.shortest(text)

    def least_tokens(self, enough: int) -> int:
        return self.min_tokens

    def matcher(self) -> LiteralMatcher:
        return LiteralMatcher(self)

    def shortest(self, text: bytes) -> int:
        """Fewest tokens that spell `text`."""
        if text not in self.lengths:
            self.lengths[text] = min(
                (1 + self.shortest(text[len(p) :]) for p in self.pieces if text.startswith(p)),
                default=0 if not text else 10**9,
            )
        return self.lengths[text]


class LiteralMatcher:
    def __init__(self, grammar: LiteralGrammar) -> None:
        self.grammar = grammar
        self.done = b""
        self.path: list[bytes] = []
        self.terminated = False

    def _rest(self, data: bytes) -> bytes | None:
        """What is still to come after `data`; None if `data` isn't the beginning of an output."""
        text = self.grammar.text
        if self.grammar.more:
            copies = max(1, -(-len(data) // len(text)))
            whole = text * copies
        else:
            whole = text
        return whole[len(data) :] if whole.startswith(data) else None

    @property
    def accepting(self) -> bool:
        return self._rest(self.done) == b"" and bool(self.done)

    @property
    def complete(self) -> bool:
        return self.accepting and not self.grammar.more

    known = False  # nothing is kept here
    row = 0

    @property
    def state(self) -> tuple[int, ...]:
        return tuple(self.done)

    def fill_mask(self, out: np.ndarray, budget: int | None = None) -> None:
        allowed = np.zeros(len(out) * 32, np.bool_)
        for token_id, token in enumerate(self.grammar.vocabulary.tokens):
            rest = self._rest(self.done + token) if token else None
            if rest is not None and (budget is None or self.grammar.shortest(rest) < budget):
                allowed[token_id] = True
        if self.accepting:
            allowed[list(self.grammar.vocabulary.eos)] = True
        out[:] = np.packbits(allowed, bitorder="little").view("<i4")

    def mask(self, budget: int | None = None) -> np.ndarray:
        out = np.zeros(self.grammar.vocabulary.words, np.int32)
        self.fill_mask(out, budget)
        return out

    def accept(self, token_id: int) -> bool:
        if token_id in self.grammar.vocabulary.eos:
            self.terminated = self.accepting
            if self.accepting:
                self.path.append(self.done)
            return self.accepting
        token = self.grammar.vocabulary.tokens[token_id]
        if not token or self._rest(self.done + token) is None:
            return False
        self.path.append(self.done)
        self.done += token
        return True

    def rollback(self, count: int) -> None:
        for _ in range(count):
            self.done = self.path.pop()
            self.terminated = False

    @property
    def min_tokens(self) -> int:
        rest = self._rest(self.done)
        return self.grammar.shortest(rest) if rest else 0 if self.accepting else 1

    def forced_run(self) -> ForcedRun:
        run = tuple(self.forced_tokens())
        return ForcedRun(run, complete=bool(run), needs=0, whole=bool(run), shared=True)

    def free_mask(self, budget: int, mask: np.ndarray) -> np.ndarray | None:
        free = np.empty_like(mask)
        self.fill_mask(free)
        return None if np.array_equal(free, mask) else free

    def ends_within(self, left: int) -> bool:
        return self.min_tokens <= left

    def knows(self, tokens: Sequence[int], left: int, *, canonical: bool) -> bool:
        return True

    def look_ahead(self) -> None:
        pass

    def close(self) -> None:
        pass

    def forced_tokens(self) -> list[int]:
        """All that is left of a single text, a byte a token."""
        rest = b"" if self.grammar.more else self._rest(self.done)
        return [self.grammar.vocabulary.tokens.index(bytes([byte])) for byte in rest or b""]


class SlowGrammar(LiteralGrammar):
    """Each mask waits until it is let go."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.go = threading.Event()

    def matcher(self):
        matcher = super().matcher()
        fill, go = matcher.fill_mask, self.go

        def fill_mask(out, budget=None):
            assert go.wait(PATIENCE)
            fill(out, budget)

        matcher.fill_mask = fill_mask
        return matcher
