"""A logits processor for llama-cpp-python.

`Llama.create_completion`, `create_chat_completion` and `generate` call their processors before each
token, with all tokens so far. They do so in a callback of C code, in which an exception is printed
and otherwise ignored, and the token would then be chosen freely. So this processor raises nothing:
what it can't follow is ended, and `error` says why.
"""

# llama-cpp-python is optional and untyped.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false
from __future__ import annotations

import ctypes
from typing import Any, Final

import llama_cpp
import numpy as np
import numpy.typing as npt

from maskwright.errors import BudgetError, InputError
from maskwright.integrations.followed_text import FollowedText
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary

_ENDLESS: Final = 1 << 30
"""The budget of a text without a limit."""


def model_vocabulary(llm: llama_cpp.Llama) -> Vocabulary:
    """Return the tokens of a loaded model, with every end token at which llama.cpp stops. Raises
    `InputError` if the model has none."""
    model: Any = llm.model
    vocab = llama_cpp.llama_model_get_vocab(model)
    numbers = range(llm.n_vocab())
    eos = [token for token in numbers if llama_cpp.llama_vocab_is_eog(vocab, token)]
    if not eos:
        raise InputError("the model has no end token", param="llm")
    special = [token for token in numbers if llama_cpp.llama_vocab_is_control(vocab, token)]
    return Vocabulary([_bytes_of(vocab, token) for token in numbers], special=special, eos=eos)


def _bytes_of(vocab: Any, token: int) -> bytes:
    """The bytes that a token adds to a text that has begun; none if it is a special token."""
    size = 64
    while True:
        room = (ctypes.c_char * size)()
        length = llama_cpp.llama_token_to_piece(vocab, token, room, size, 0, False)
        if length >= 0:
            return bytes(room[:length])
        size = -length


class LlamaCppProcessor:
    """Sets the logits of tokens to -inf after which the text can't become one of the grammar within
    `max_tokens`. For one completion: `logits_processor=LogitsProcessorList([processor])`.

    `max_tokens`: the number that the completion gets; None for a completion without a limit, which
    may be cut off where the context ends. Raises `BudgetError` if it is too small for any text of
    the grammar, and `InputError` if the vocabulary has no end token.

    After a complete text to which nothing can be added, only end tokens are allowed. The same holds
    after tokens that were not chosen under these masks, and then `error` is set: the processor was
    used for a second completion, or the model has a `draft_model`, with which llama-cpp-python
    shows processors a text that is not the one in question.
    """

    def __init__(self, grammar: Grammar, *, max_tokens: int | None = None) -> None:
        eos = grammar.vocabulary.eos
        if not eos:
            raise InputError("the vocabulary has no end token", param="grammar")
        if max_tokens is not None:
            needed = grammar.least_tokens(max_tokens)
            if needed > max_tokens:
                message = f"max_tokens is {max_tokens}, and the shortest text found takes {needed}"
                raise BudgetError(message, needed=needed, param="max_tokens")
        self.error: str | None = None
        """Why the text was ended before it was complete."""
        self._text: Final = FollowedText(grammar)
        self._max_tokens: Final = max_tokens
        self._prompt_length: int | None = None
        self._length = 0
        self._words: Final = np.zeros(grammar.vocabulary.words, np.int32)

    def __call__(
        self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Return the logits with -inf for forbidden tokens. `input_ids`: int32 [tokens]; `scores`:
        float32 [vocabulary], which stay as they are."""
        self._follow(input_ids)
        vocabulary = self._text.grammar.vocabulary
        if self.error is None and self._fill():
            bits = self._words.view(np.uint8)
            allowed = np.unpackbits(bits, bitorder="little")[: vocabulary.size].view(np.bool_)
        else:
            allowed = np.zeros(vocabulary.size, np.bool_)
            allowed[list(vocabulary.eos)] = True
        masked = np.full(len(scores), -np.inf, np.float32)
        np.copyto(masked[: len(allowed)], scores[: len(allowed)], where=allowed[: len(scores)])
        return masked

    def _follow(self, input_ids: npt.NDArray[np.intc]) -> None:
        length = len(input_ids)
        if self._prompt_length is None:
            self._prompt_length = length
        elif length == self._length + 1:
            self._text.append(int(input_ids[-1]))
        elif self.error is None:
            self.error = f"{length} tokens came after {self._length}, instead of one more"
        self._length = length

    def _fill(self) -> bool:
        """Write the mask, if there is one."""
        begun = self._length - (self._prompt_length or 0)
        left = _ENDLESS if self._max_tokens is None else self._max_tokens - begun
        try:
            return self._text.fill_mask(self._words, left)
        except Exception as error:  # must not leave this callback
            self.error = f"{type(error).__name__}: {error}"
            return False
