"""Checks requests before they may queue, and turns them into active ones."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from maskwright.engine.adapters import Adapters
from maskwright.engine.admit.gate import Claim
from maskwright.engine.config import EngineConfig
from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.request.active import Active
from maskwright.engine.request.drafts import LookBack
from maskwright.engine.request.emission import Emitter
from maskwright.engine.request.generation import Generation
from maskwright.engine.request.request import Request
from maskwright.engine.request.stops import StopAutomaton
from maskwright.engine.schedule.sequence import Sequence
from maskwright.errors import BudgetError, InputError
from maskwright.mask import CompiledGrammar
from maskwright.models import LoadedModel


class Admission:
    """The limits of one model in one engine. Immutable; may be used from any thread."""

    def __init__(
        self,
        loaded: LoadedModel,
        pool: BlockPool,
        config: EngineConfig,
        adapters: Adapters | None = None,
    ) -> None:
        self._adapters = adapters
        max_context, positions = config.max_context, loaded.decoder.max_positions
        if max_context is not None and max_context > positions:
            raise InputError(
                f"max_context is {max_context}, but the model has {positions} positions.",
                param="max_context",
            )
        self.max_context = max_context or positions
        attention_window = AttentionWindow(
            pool.block_size, config.max_batch_tokens, loaded.decoder.window
        )
        if attention_window.most_blocks(self.max_context) > pool.total:
            self.max_context = pool.total * pool.block_size
        self._config = config
        self._ranks = {item.name: rank for rank, item in enumerate(config.classes)}
        self._model = (loaded.name, str(loaded.decoder.dtype), config.kv_dtype)
        self._vocab = loaded.vocab
        self._texts = loaded.vocab.tokens
        self._writable = np.array([bool(text) for text in self._texts])

    def check(self, request: Request) -> None:
        """Raise `InputError` or `BudgetError` for a request that can't be served under any load."""
        self._check_length(request)
        for name, tokens in (
            ("prompt", request.prompt),
            ("begun", request.begun),
            ("eos", request.eos or ()),
            ("stop_tokens", request.stop_tokens),
            ("logit_bias, bad_words or allowed_tokens", request.params.tokens()),
        ):
            outside = [token for token in tokens if not 0 <= token < self._vocab.size]
            if outside:
                raise InputError(
                    f"Token {outside[0]} in {name} is outside the vocabulary of "
                    f"{self._vocab.size}.",
                    param=name.split()[0].rstrip(","),
                )
        if request.service not in self._ranks:
            raise InputError(
                f"There is no class of service {request.service!r}; there are "
                f"{', '.join(self._ranks)}.",
                param="service",
            )
        if request.adapter is not None and request.adapter not in (self._adapters or ()):
            raise InputError(f"There is no adapter {request.adapter!r}.", param="adapter")
        if request.grammar is not None and not isinstance(request.grammar, Future):
            self.check_grammar(request, request.grammar)

    def check_grammar(self, request: Request, grammar: CompiledGrammar) -> None:
        """As `check`, for the compiled grammar alone."""
        if grammar.vocabulary.digest != self._vocab.digest:
            raise InputError(
                "The grammar was compiled for another vocabulary than this model's.",
                param="grammar",
            )
        needed = grammar.least_tokens(request.max_tokens)
        if needed > request.max_tokens:
            raise BudgetError(
                f"The shortest output found for this grammar takes {needed} tokens, but "
                f"max_tokens is {request.max_tokens}.",
                needed=needed,
                param="max_tokens",
            )

    def claim(self, request: Request) -> Claim:
        """What the request asks of the engine, in the terms of `Gate`."""
        rank = self._ranks[request.service]
        begun = len(request.begun)  # computed like a prompt
        return Claim(rank, request.client, len(request.prompt) + begun, request.max_tokens - begun)

    def admit(
        self, request: Request, generation: Generation, grammar: CompiledGrammar | None
    ) -> Active:
        """Make the active request, with matcher, sequence and emitter. The caller has checked
        it."""
        config = self._config
        prompt = list(request.prompt)
        eos = self._vocab.eos if request.eos is None else request.eos
        return Active(
            request=request,
            generation=generation,
            sequence=Sequence(
                arrival=generation.id,
                tokens=prompt + list(request.begun),
                prompt_length=len(prompt),
                limit=len(prompt) + request.max_tokens,
                rank=self._ranks[request.service],
                client=request.client,
                salt=self.salt(request),
                adapter=request.adapter,
                deadline=generation.deadline,
                to_score=0 if request.prompt_logprobs is None else len(prompt) - 1,
            ),
            matcher=None if grammar is None else grammar.matcher(),
            free_words=self.free_words((*eos, *request.stop_tokens)),
            eos=frozenset(eos),
            stop_tokens=frozenset(request.stop_tokens),
            texts=self._texts,
            emitter=Emitter(
                StopAutomaton(request.stop) if request.stop else None,
                include_stop=request.include_stop,
            ),
            canonical=config.canonical,
            drafter=LookBack(config.drafts) if config.drafts else None,
        )

    def salt(self, request: Request) -> tuple[str, ...]:
        """What requests must have in common to share cached prefixes."""
        digest = ""
        if request.adapter is not None and self._adapters is not None:
            digest = self._adapters.digest(request.adapter)
        return (*self._model, digest, request.cache_salt)

    def free_words(self, eos: tuple[int, ...]) -> NDArray[np.int32]:
        """The mask int32 `[words]` of a request without grammar, which can't be written to: every
        token that has text, and its end tokens. Other special tokens, unused ids and the padding of
        the vocabulary are never sampled."""
        allowed = np.zeros(self._vocab.words * 32, np.bool_)
        allowed[: len(self._writable)] = self._writable
        allowed[list(eos)] = True
        words = np.packbits(allowed, bitorder="little").view("<i4")
        words.setflags(write=False)
        return words

    def _check_length(self, request: Request) -> None:
        prompt, whole = len(request.prompt), len(request.prompt) + request.max_tokens
        if prompt >= self.max_context:
            raise InputError(
                f"The prompt has {prompt} tokens, which leaves no room for an answer in the "
                f"context of {self.max_context}.",
                param="prompt",
                code="context_length_exceeded",
            )
        if whole > self.max_context:
            raise InputError(
                f"The prompt's {prompt} tokens and max_tokens {request.max_tokens} exceed the "
                f"context of {self.max_context}; at most {self.max_context - prompt} are left.",
                param="max_tokens",
                code="context_length_exceeded",
            )
