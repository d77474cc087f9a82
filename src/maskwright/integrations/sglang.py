"""A grammar backend for SGLang.

SGLang loads plugins in each of its processes: the entry point in pyproject.toml calls `register`,
and `--grammar-backend maskwright` chooses the backend.
"""

# SGLang is optional.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUnknownParameterType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
    register_grammar_backend,
)
from sglang.srt.server_args import add_grammar_backend_choices
from torch import Tensor

from maskwright.errors import InputError
from maskwright.integrations.named_shape import compile_named_shape
from maskwright.kernels.apply_mask import apply_mask
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary

NAME: Final = "maskwright"
ANY_OBJECT: Final = "$$ANY$$"
"""What SGLang writes for a JSON object without a schema."""


def register() -> None:
    """Make the backend known to SGLang, in the process that calls this."""
    add_grammar_backend_choices([NAME])
    register_grammar_backend(NAME, _backend)


def _backend(
    server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None
) -> SglangBackend:
    return SglangBackend(tokenizer, vocab_size, eos_token_ids)


class SglangGrammar(BaseGrammarObject):
    """The text of one request."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self._grammar: Final = grammar
        self._matcher = grammar.matcher()
        self._after_end = 0

    def accept_token(self, token: int) -> None:
        """Add a token. What comes after an end token is ignored. Raises `ValueError` for a token
        that the grammar forbids."""
        if self.is_terminated():
            self._after_end += 1
        elif not self._matcher.accept(token):
            raise ValueError(f"token {token} is not allowed here")
        self.finished = self._matcher.terminated

    def rollback(self, k: int) -> None:
        """Undo the last `k` tokens."""
        ignored = min(k, self._after_end)
        self._after_end -= ignored
        self._matcher.rollback(k - ignored)
        self.finished = self._matcher.terminated

    def is_terminated(self) -> bool:
        """Whether an end token has come."""
        return self._matcher.terminated

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Tensor:
        """Return room for the masks of a batch, on the CPU, where they are filled."""
        words = max(self._grammar.vocabulary.words, (vocab_size + 31) // 32)
        return torch.full((batch_size, words), -1, dtype=torch.int32)

    def fill_vocab_mask(self, vocab_mask: Tensor, idx: int) -> None:
        """Write the mask of the next token to row `idx`; after an end token it stays as it is."""
        if self.is_terminated():
            return
        row = vocab_mask[idx].numpy()
        words = self._grammar.vocabulary.words
        self._matcher.fill_mask(row[:words])
        row[words:] = 0

    @staticmethod
    def reset_vocab_mask(vocab_mask: Tensor) -> None:
        """Let every row allow every token."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Tensor, device: Any) -> Tensor:
        """Return the masks on the device of the logits."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Tensor, vocab_mask: Tensor) -> None:
        """Set the logits of forbidden tokens to -inf, in place."""
        apply_mask(logits, vocab_mask)

    def copy(self) -> SglangGrammar:
        """Return the grammar at the start of a text."""
        return SglangGrammar(self._grammar)

    def try_jump_forward(self, tokenizer: Any) -> None:
        """Forced text is left to the masks."""


class SglangBackend(BaseGrammarBackend):
    """Compiles the shapes of requests: JSON Schemas, patterns, grammars and structural tags."""

    def __init__(
        self, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None
    ) -> None:
        super().__init__()
        eos = set(eos_token_ids or ()) | {tokenizer.eos_token_id}
        size = max(vocab_size, len(tokenizer))
        self._vocab: Final = Vocabulary.from_tokenizer(
            tokenizer, size=size, eos=sorted(eos - {None})
        )

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """Compile a JSON Schema, given as JSON text."""
        any_object = {"type": "object"}
        return self._compile("json_schema", any_object if key_string == ANY_OBJECT else key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """Compile a pattern, which the whole text matches."""
        return self._compile("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """Compile a grammar in EBNF, GBNF or Lark's syntax."""
        return self._compile("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """Compile a structural tag, given as JSON text."""
        return self._compile("structural_tag", key_string)

    def _compile(self, name: str, definition: Any) -> BaseGrammarObject:
        try:
            return SglangGrammar(compile_named_shape({name: definition}, self._vocab))
        except InputError as error:
            return InvalidGrammarObject(str(error))
