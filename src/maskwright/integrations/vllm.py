"""A logits processor for vLLM (version 1 of its engine), as its documents describe them.

A server has it with `vllm serve … --logits-processors
maskwright.integrations.vllm:VllmProcessor`, `LLM` with the argument `logits_processors`.
A request names its shape in the `extra_args` of its parameters, over HTTP in `vllm_xargs`:
`{"maskwright": {"json_schema": {…}}}`; see `named_shape`.
"""

# vLLM is optional.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUnknownParameterType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor, MoveDirectionality

from maskwright.errors import BudgetError, InputError
from maskwright.grammar.schema.document import json_of
from maskwright.integrations.followed_text import FollowedText
from maskwright.integrations.named_shape import compile_named_shape
from maskwright.json_faults import json_reason
from maskwright.kernels.apply_mask import apply_mask
from maskwright.vocab import Vocabulary
from maskwright.workbench.reading import byte_vocabulary

ARGUMENT: Final = "maskwright"
"""The name of the shape in `extra_args`."""

_ENDLESS: Final = 1 << 30
_BYTES: Final = byte_vocabulary()


class MaskedAnswer:
    """The text of one request. `tokens` is vLLM's own list of what has been sampled, which it
    extends; `max_tokens` its limit, or None."""

    def __init__(self, text: FollowedText, tokens: list[int], max_tokens: int | None) -> None:
        self.text: Final = text
        self.tokens: Final = tokens
        self.max_tokens: Final = max_tokens

    def fill_mask(self, out: np.ndarray[Any, np.dtype[np.int32]]) -> None:
        """Write the mask of the next token. Where the text has ended, or the limit is too small for
        any text, it allows the end tokens."""
        self.text.replace(self.tokens)
        left = _ENDLESS if self.max_tokens is None else self.max_tokens - len(self.tokens)
        try:
            if self.text.fill_mask(out, left):
                return
        except BudgetError:
            pass
        out[:] = 0
        for token in self.text.grammar.vocabulary.eos:
            out[token // 32] |= np.uint32(1 << token % 32).astype(np.int32)


class VllmProcessor(LogitsProcessor):
    """Sets the logits of tokens to -inf after which an answer can't become a text of the request's
    shape within `max_tokens`. Requests without a shape stay free. An answer whose `max_tokens` is
    too small for any text of the shape ends at once.

    vLLM refuses processors of this kind together with speculative decoding.
    """

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        """`vllm_config` names the model, whose fast tokenizer is read. Raises `InputError` for a
        slow one."""
        model = vllm_config.model_config
        self._vocab: Final = model_vocabulary(model)
        self._answers: dict[int, MaskedAnswer] = {}

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a shape that can't be compiled, in the process that takes requests."""
        shape = _shape_of(sampling_params)
        if shape is None:
            return
        try:
            compile_named_shape(shape, _BYTES)
        except InputError as error:
            raise ValueError(f"{ARGUMENT}: {error}") from error

    def is_argmax_invariant(self) -> bool:
        """A mask changes which token is the likeliest."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the requests that leave, come, and change places, in this order."""
        if batch_update is None:
            return
        answers = self._answers
        for index in batch_update.removed:
            answers.pop(index, None)
        for index, params, _, tokens in batch_update.added:
            answers.pop(index, None)
            shape = _shape_of(params)
            if shape is not None:
                text = FollowedText(compile_named_shape(shape, self._vocab))
                answers[index] = MaskedAnswer(text, tokens, params.max_tokens)
        for source, target, direction in batch_update.moved:
            moved, replaced = answers.pop(source, None), answers.pop(target, None)
            if moved is not None:
                answers[target] = moved
            if replaced is not None and direction == MoveDirectionality.SWAP:
                answers[source] = replaced

    def apply(self, logits: Tensor) -> Tensor:
        """Mask the rows of requests that have a shape; `logits` float `[requests, vocabulary]`, on
        any device, are changed in place."""
        if not self._answers:
            return logits
        count, size = logits.shape
        words = np.full((count, (size + 31) // 32), -1, np.int32)
        for row, answer in self._answers.items():
            words[row] = 0
            answer.fill_mask(words[row, : self._vocab.words])
        apply_mask(logits, torch.from_numpy(words).to(logits.device))
        return logits


def model_vocabulary(model_config: Any) -> Vocabulary:
    """Return the tokens of vLLM's model: as many as it has logits, with the end tokens of its
    tokenizer and of its generation configuration."""
    tokenizer: Any = AutoTokenizer.from_pretrained(
        model_config.tokenizer, revision=model_config.tokenizer_revision
    )
    eos = {tokenizer.eos_token_id}
    generation = model_config.try_get_generation_config()
    configured = generation.get("eos_token_id")
    eos |= set(configured if isinstance(configured, list) else [configured])
    size = max(model_config.get_vocab_size(), len(tokenizer))
    return Vocabulary.from_tokenizer(tokenizer, size=size, eos=sorted(eos - {None}))


def _shape_of(params: Any) -> Any:
    """The shape that a request names, or None. Over HTTP it may come as JSON text."""
    shape = (params.extra_args or {}).get(ARGUMENT)
    if not isinstance(shape, str):
        return shape
    try:
        return json_of(shape)
    except ValueError as error:
        raise ValueError(f"{ARGUMENT}: not JSON: {json_reason(error)}") from error
