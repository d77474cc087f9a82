"""A logits processor for `generate` of the transformers library.

`generate` calls its processors before each token, with all tokens of every row so far. The row's
text is what comes after the prompt, so the masks depend on what `generate` passes and on nothing
that it would have to report: rows that change places in a beam search, drafts that are refused, and
a next call of `generate` with another prompt of that length are followed like any other text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor
from transformers import LogitsProcessor, PreTrainedModel

from maskwright.errors import InputError
from maskwright.integrations.followed_text import FollowedText
from maskwright.kernels.apply_mask import apply_mask
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary


def model_vocabulary(model: PreTrainedModel, tokenizer: object) -> Vocabulary:
    """Return the tokens of a model: as many as it has logits, with the end tokens at which its
    `generate` stops.

    `tokenizer`: the model's fast tokenizer. Raises `InputError` for a slow one, for one that is
    larger than the model's vocabulary, and if neither the model nor the tokenizer names an end
    token.
    """
    eos = model.generation_config.eos_token_id
    size = model.config.get_text_config().vocab_size
    return Vocabulary.from_tokenizer(tokenizer, size=size, eos=eos)


class GrammarLogitsProcessor(LogitsProcessor):
    """Sets the logits of tokens to -inf after which a row's text can't become a text of its
    grammar within `max_new_tokens`.

    `grammars`: one for all rows, or a list with one for each prompt, in which None stands for a row
    without a grammar. `prompt_length`: the number of columns of the prompts that `generate` gets,
    padding on the left included. `max_new_tokens`: the number that `generate` gets. The processor
    may be used for several calls of `generate` with these numbers, one after the other.

    After a complete text to which nothing can be added, only end tokens are allowed, and after an
    end token too. `generate` must stop at the end tokens of the grammars' vocabulary; it does if
    that comes from `model_vocabulary`.

    Raises `InputError` if there is no grammar, or one whose vocabulary has no end token. Calling
    the processor raises `BudgetError` if `max_new_tokens` is too small for any text of a grammar,
    and `ValueError` if the tokens or logits can't come from `generate` with these numbers, or if
    other processors have forbidden everything that a grammar allows.
    """

    def __init__(
        self,
        grammars: Grammar | Sequence[Grammar | None],
        *,
        prompt_length: int,
        max_new_tokens: int,
    ) -> None:
        each = (grammars,) if isinstance(grammars, Grammar) else tuple(grammars)
        if not each:
            raise InputError("there must be a grammar for each prompt, or one", param="grammars")
        for grammar in each:
            if grammar is not None and not grammar.vocabulary.eos:
                message = "the vocabulary has no end token, so `generate` can't stop"
                raise InputError(message, param="grammars")
        self._grammars: Final = each
        self._prompt_length: Final = prompt_length
        self._max_new_tokens: Final = max_new_tokens
        self._texts: list[FollowedText | None] = []
        self._seen: Tensor | None = None
        """int64 [rows, tokens]: what the last call got."""

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return the logits with -inf for forbidden tokens. `input_ids`: int64 [rows, tokens];
        `scores`: float [rows, vocabulary], on any device, which stay as they are."""
        self._check_size(scores)
        self._follow(input_ids)
        count, size = scores.shape
        words = np.full((count, (size + 31) // 32), -1, np.int32)
        left = self._max_new_tokens - (input_ids.shape[1] - self._prompt_length)
        masked: list[int] = []
        masked_scores = scores.clone()
        for row, text in enumerate(self._texts):
            if text is None:
                continue
            vocabulary = text.grammar.vocabulary
            if text.fill_mask(words[row, : vocabulary.words], left):
                words[row, vocabulary.words :] = 0
                masked.append(row)
            else:
                masked_scores[row] = -torch.inf
                masked_scores[row, list(vocabulary.eos)] = 0.0
        apply_mask(masked_scores, torch.from_numpy(words).to(scores.device))
        _check_support(masked_scores, masked)
        return masked_scores

    def _check_size(self, scores: Tensor) -> None:
        """Refuse logits that don't reach all tokens: a mask might allow only those without one."""
        for grammar in self._grammars:
            if grammar is not None and grammar.vocabulary.size > scores.shape[1]:
                raise ValueError(
                    f"the model has {scores.shape[1]} logits, but a grammar was compiled for a"
                    f" vocabulary of {grammar.vocabulary.size} tokens; take `model_vocabulary`"
                )

    def _follow(self, input_ids: Tensor) -> None:
        """Bring the texts of all rows to what `generate` has written."""
        length, prompt_length = input_ids.shape[1], self._prompt_length
        if length == prompt_length:
            self._begin(len(input_ids))
        elif self._goes_on(input_ids):
            for text, token in zip(self._texts, input_ids[:, -1].tolist(), strict=True):
                if text is not None:
                    text.append(token)
        elif self._is_of_this_call(input_ids):
            texts = input_ids[:, prompt_length:].tolist()
            for text, tokens in zip(self._texts, texts, strict=True):
                if text is not None:
                    text.replace(tokens)
        else:
            raise ValueError(
                f"these tokens don't follow prompts of {prompt_length} tokens (`prompt_length`):"
                f" {len(input_ids)} rows of {length} tokens"
            )
        self._seen = input_ids.clone()

    def _begin(self, rows: int) -> None:
        """Start new texts. `generate` repeats each prompt for its beams and for the answers to it,
        and rows of one prompt stand together."""
        copies, rest = divmod(rows, len(self._grammars))
        if rest or not copies:
            raise ValueError(f"{len(self._grammars)} grammars were given for {rows} rows")
        self._texts = [
            None if grammar is None else FollowedText(grammar)
            for grammar in self._grammars
            for _ in range(copies)
        ]

    def _goes_on(self, input_ids: Tensor) -> bool:
        """Whether a token was added to each row of the last call, and nothing was changed."""
        return self._seen is not None and torch.equal(input_ids[:, :-1], self._seen)

    def _is_of_this_call(self, input_ids: Tensor) -> bool:
        """Whether the prompts are the last call's. No text grows by two tokens between two
        calls: this would be a call of `generate` with longer prompts."""
        seen, length = self._seen, self._prompt_length
        return (
            seen is not None
            and length < input_ids.shape[1] <= seen.shape[1] + 1
            and torch.equal(input_ids[:, :length], seen[:, :length])
        )


def _check_support(scores: Tensor, rows: Sequence[int]) -> None:
    """Raise `ValueError` if nothing is left in one of these rows."""
    if not rows:
        return
    highest = scores.amax(dim=-1).tolist()
    for row in rows:
        if highest[row] == -torch.inf:
            raise ValueError(
                f"row {row}: other processors of `generate` forbid every token that the grammar"
                " allows (for example `min_new_tokens`, `bad_words_ids`,"
                " `suppress_tokens` or `no_repeat_ngram_size`)"
            )
