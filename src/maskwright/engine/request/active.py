"""A live request: its matcher, its masks, its text and its stream to the client.

Two things happen between two tokens that don't need the model, and so can run while it computes.
`advance` moves the matcher on, detects the end, appends the tokens that the grammar forces, and
proposes draft tokens; the next plan needs its result. `prepare` publishes the text and fills the
masks; no token is sampled before that.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from maskwright.engine.request.drafts import LookBack
from maskwright.engine.request.emission import Emitter
from maskwright.engine.request.generation import Generation
from maskwright.engine.request.request import COMPLETE, Delta, FinishReason, Request
from maskwright.engine.request.row import Masks, Row
from maskwright.engine.schedule.sequence import Sequence
from maskwright.errors import GenerationError
from maskwright.immutable import Immutable
from maskwright.mask import TextMatcher
from maskwright.mask.matcher.protocol import NOTHING_FORCED, ForcedRun, Reply
from maskwright.sampling import (
    CANONICAL,
    NOWHERE,
    Mask,
    Place,
    PromptScores,
    SampleRow,
    TokenScore,
    join_scores,
)


class Advance(Immutable):
    """The result of `Active.advance`.

    `reason`: why the last token ends the request, or None. `forced`: tokens that the grammar forces
    next; they are part of the output already. `draft`: draft tokens for the positions after them.
    """

    reason: FinishReason | None
    forced: tuple[int, ...] = ()
    draft: tuple[int, ...] = ()


class Active(Row):
    """A live request and its state between tokens.

    `eos`, `stop_tokens`: tokens that end the answer, of the model and of the client. `free_words`
    int32 `[words]`: the mask of an unconstrained request. `texts`: the vocabulary's tokens as
    bytes. `canonical`: text that the grammar forces is written as the tokenizer would cut it,
    without asking the model. `drafter`: proposes draft tokens from the request's own text; None for
    one token a step.

    `advance` and `prepare` run one at a time, in any thread; while they run, nothing else accesses
    the tokens of the sequence. `close` may be called at any time from the engine's thread.
    """

    masks: Masks | None
    """The masks of the next token and of the drafts after it; None while they are not filled."""
    shortened_at: int | None
    """The first output token that the token limit has changed; None while there is none."""
    _digested: int
    """Output tokens that the matcher and the emitter have processed."""
    _last: int | None
    """The last of them."""
    _run: list[int]
    """Canonical tokens that are still to come, where they enter one in each step."""
    _missed: tuple[int, ...]
    """The tokens that would be written next without the token limit, which leaves no room for
    them: the text that the grammar forces, as the tokenizer cuts it."""
    _settled: bool
    """Whether the grammar forces the text up to its end, so that the limit can change nothing but
    how it is cut into tokens."""
    _unsent: list[int]
    _text: str
    _cuts: deque[int]
    """Numbers of output tokens after which a delta is still to end by itself."""
    _closed: bool

    def __init__(
        self,
        request: Request,
        generation: Generation,
        sequence: Sequence,
        matcher: TextMatcher | None,
        free_words: Mask,
        eos: frozenset[int],
        texts: tuple[bytes, ...],
        emitter: Emitter,
        canonical: bool,
        drafter: LookBack | None,
        stop_tokens: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(
            *(request, generation, sequence, matcher, free_words, eos, stop_tokens, texts),
            *(emitter, canonical, drafter),
        )
        self.request = request
        self.free_words = free_words
        self.canonical = canonical
        self._prompt: list[PromptScores] = []
        """Scores of the prompt's tokens so far, a part for each step that computed some."""
        self._cuts = deque(request.cuts)
        self.shortened_at = request.shortened_at
        self._lock = threading.Lock()

    @property
    def complete(self) -> bool:
        """Whether the grammar allows nothing more."""
        return self.matcher is not None and self.matcher.complete

    @property
    def output(self) -> tuple[int, ...]:
        """The output tokens that the matcher and the emitter have processed."""
        begin = self.sequence.prompt_length
        return tuple(self.sequence.tokens[begin : begin + self._digested])

    @property
    def closed(self) -> bool:
        """Whether the request has ended."""
        return self._closed

    def sample_row(self, draft: list[int]) -> SampleRow:
        """The sampler's parameters for the token that follows the sequence and `draft`."""
        sequence = self.sequence
        tokens = sequence.tokens + draft if draft else sequence.tokens
        return SampleRow(
            self.request.params,
            tokens,
            sequence.prompt_length,
            self.generation.seed,
            self.eos,
            self.stop_tokens,
        )

    def advance(self, tokens: list[int]) -> Advance:
        """Process sampled `tokens`, which the sequence already holds; tokens after an end are
        dropped. At the beginning of the output, they are those with which it was begun elsewhere.
        Raises `GenerationError` if the grammar refuses a token."""
        reason = self._take(tokens)
        if not tokens and self.complete:
            reason = FinishReason.GRAMMAR
        forced: list[int] = []
        request = self.request
        # For scores the model has to compute an answer even if a grammar forces all of it.
        scored = request.params.logprobs is not None or request.prompt_logprobs is not None
        one_a_step = self.drafter is None or scored
        while reason is None and (run := self._next_run()):
            if one_a_step:
                self._run = run
                break
            forced += run
            reason = self._take(run)
        draft = [] if reason is not None else self._draft(forced)
        return Advance(reason, tuple(forced), tuple(draft))

    def prepare(self, draft: tuple[int, ...]) -> Masks:
        """Publish the text that is safe to send, and fill the masks of the next token and of the
        tokens after each of `draft`."""
        with self._lock:
            if self._text and not self._closed and not self._cuts:
                self.generation.publish(self._delta(None))
        masks = self._masks(draft)
        if self.matcher is not None:
            self.matcher.look_ahead()
        return masks

    def close(self, reason: FinishReason, error: Exception | None = None) -> Delta:
        """Close the stream and return its last delta; nothing is published after it."""
        if self.matcher is not None:
            self.matcher.close()
        with self._lock:
            self._closed = True
            if self.shortened_at is not None and self.shortened_at >= self._digested:
                self.shortened_at = None  # a token that was dropped, because it came after the end
            if error is not None:
                tokens, at = tuple(self._unsent), self.shortened_at
                scores = tuple(self.scores[: len(tokens)])
                return Delta("", tokens, reason, error, scores, shortened_at=at)
            return self._delta(reason)

    @property
    def coming(self) -> tuple[int, ...]:
        """The canonical tokens that enter next, one in each step."""
        return tuple(self._run)

    def expect(self, drawn: list[int], coming: tuple[int, ...]) -> None:
        """Say before `advance` that `drawn`, several steps' tokens, end within forced text, of
        which `coming` is still to come. Without it, the text after them would be found anew, and
        might be cut into other tokens."""
        self._run = [*drawn, *coming] if coming else []

    def note_score(self, score: TokenScore, row: int) -> None:
        """Keep the score of a token that was drawn under mask number `row`."""
        if self.masks is not None and self.masks.places:
            score = replace(score, place=self.masks.places[row])
        self.scores.append(score)

    def note_shortened(self, ahead: int = 0) -> None:
        """Note that an output token is another one than without the token limit, or is missing: the
        next one to be processed, or one that comes `ahead` tokens later. Only the first counts."""
        if self.shortened_at is None:
            self.shortened_at = self._digested + ahead
            self._missed = ()

    def note_prompt(self, scores: PromptScores) -> None:
        """Keep the scores of the next tokens of the prompt; the last ones complete them."""
        self._prompt.append(scores)
        if self.sequence.scored == self.sequence.to_score:
            self.generation.prompt_scores = join_scores(self._prompt)
            self._prompt = []

    def note_end(self) -> None:
        """Keep the output, and copy what matcher, sequence and cache have counted."""
        record, sequence = self.generation.record, self.sequence
        record.completion = self._digested
        record.shortened_at = self.shortened_at
        self.generation.output = self.output
        record.cached = sequence.cached_tokens
        record.preemptions = sequence.preemptions
        record.peak = sequence.blocks_peak

    # What is known of the grammar ---------------------------------------------------------------

    def knows(self, tokens: list[int]) -> bool:
        """Whether `advance` with these sampled tokens, and `prepare` after it, have all that they
        need of the grammar."""
        if self.matcher is None:
            return True
        if len(self._run) > len(tokens):  # the next mask allows the next token of the run
            return self.matcher.knows(tokens, 0, canonical=False)
        left = self.left - len(tokens)
        return self.matcher.knows(tokens, left, canonical=self.writes_forced_text)

    def ask(self, tokens: list[int], then: Callable[[Reply], None]) -> None:
        """Ask for what `knows` lacks; `then` may be called in another thread."""
        assert self.matcher is not None
        left = self.left - len(tokens)
        self.matcher.ask(tokens, left, canonical=self.writes_forced_text, then=then)

    # The matcher and the end --------------------------------------------------------------------

    @property
    def left(self) -> int:
        """Tokens left up to the token limit."""
        return self.request.max_tokens - self._digested

    def _take(self, tokens: list[int]) -> FinishReason | None:
        """Process tokens until one ends the output; returns the reason, or None."""
        for token in tokens:
            if self.matcher is not None and not self.matcher.accept(token):
                raise GenerationError(f"The grammar refused token {token}, which its mask allowed.")
            if self._run:
                self._run = self._run[1:]
            with self._lock:
                if self._closed:
                    return None
                if self._missed and token == self._missed[0]:
                    self._missed = self._missed[1:]
                elif self._missed:  # without the limit there would be another token
                    self.note_shortened()
                stops = self._digested >= self.request.params.min_tokens
                self._digested, self._last = self._digested + 1, token
                self._unsent.append(token)
                unsaid = stops and token in self.stop_tokens and not self.request.include_stop
                text = b"" if unsaid else self.texts[token]
                self._text += self.emitter.push(text, stops=stops)
                if self._cuts and self._digested == self._cuts[0]:
                    self._cuts.popleft()
                    self.generation.publish_apart(self._delta(None))
            reason = self._reason(token)
            if reason is not None:
                return reason
        return None

    def _reason(self, token: int) -> FinishReason | None:
        if token in self.eos:
            return FinishReason.STOP
        if self.emitter.stopped:
            return FinishReason.STOP_STRING
        if token in self.stop_tokens and self._digested > self.request.params.min_tokens:
            return FinishReason.STOP_TOKEN
        if self.complete:
            return FinishReason.GRAMMAR
        return None if self.left else FinishReason.LENGTH

    # What comes next ----------------------------------------------------------------------------

    @property
    def writes_forced_text(self) -> bool:
        """Whether text that the grammar forces may be written without the model: then nothing but
        the grammar may restrict tokens."""
        return self.canonical and not self.request.params.forbids

    def _forced_run(self) -> ForcedRun:
        """The text that the grammar forces next, none if it may not be written without the
        model."""
        if self.matcher is None or not self.writes_forced_text:
            return NOTHING_FORCED
        return self.matcher.forced_run()

    def _next_run(self) -> list[int]:
        """The canonical tokens of the text that the grammar forces next, empty if there are none,
        or the rest of the tokens up to the limit would not suffice to complete the text. What
        would be written without the limit is noted then."""
        if self._run:
            return self._run
        forced = self._forced_run()
        run = forced.within(self.left)
        if not run and self._may_be_shortened:
            if forced.whole and not self.stop_tokens:
                self._settled, self._missed = True, ()
            elif not self._missed:
                self._missed = forced.tokens
        return list(run)

    # What the token limit changes ----------------------------------------------------------------

    @property
    def _may_be_shortened(self) -> bool:
        """Whether it is still to be found out which token the limit changes first."""
        return self.shortened_at is None and not self._settled

    def _free_mask(self, mask: Mask, left: int) -> Mask | None:
        """The mask without the limit in place of `mask`, `left` tokens before it, if the token that
        it would give is to be compared."""
        if self.matcher is None or self._missed or not self._may_be_shortened:
            return None
        return self.matcher.free_mask(left, mask)

    def _final(self, reason: FinishReason) -> FinishReason:
        """The finish reason of an output whose text ended for `reason`."""
        if reason is FinishReason.LENGTH:
            self.note_shortened()
        if self.shortened_at is None or reason not in COMPLETE:
            return reason
        if self.request.length_if_shortened:
            return FinishReason.LENGTH
        whole = self.matcher is not None and self.matcher.accepting
        return FinishReason.GRAMMAR if whole and reason is FinishReason.LENGTH else reason

    def _draft(self, forced: list[int]) -> list[int]:
        """Draft tokens for the positions after `forced`, each allowed by the grammar. A draft ends
        before a position where the grammar forces text, since that needs no guess."""
        if self.drafter is None or self._run or self._missed or self.left < 2:
            return []
        return self._allowed(self._guesses(self.drafter, forced)[: self.left - 1])

    def _allowed(self, guesses: list[int]) -> list[int]:
        """The draft tokens up to the first that the grammar doesn't allow, or where it forces
        text."""
        for number, token in enumerate(guesses):
            if not self._may_follow(token, self.left - number - 1):
                self.take_back(number)
                return guesses[:number]
        self.take_back(len(guesses))
        return guesses

    def _guesses(self, drafter: LookBack, forced: list[int]) -> list[int]:
        if self.matcher is not None and not self.canonical:
            guesses = self.matcher.forced_tokens()[: drafter.most]
            if guesses:
                return guesses
        tokens = self.sequence.tokens
        return drafter.propose(tokens + forced if forced else tokens)

    def _may_follow(self, token: int, left: int) -> bool:
        """Accept a draft token in the matcher, `left` tokens before the limit. False, with the
        matcher unchanged, if it is not allowed, ends the output, or is followed by forced text."""
        if token in self.eos or token in self.stop_tokens or not self.texts[token]:
            return False
        matcher = self.matcher
        if matcher is None:
            return True
        if not matcher.accept(token):
            return False
        fits = False
        try:
            known = matcher.knows((), left, canonical=self.writes_forced_text)
            fits = known and not (
                matcher.complete or not matcher.ends_within(left) or self._forced_run().tokens
            )
        finally:
            if not fits:
                matcher.rollback(1)
        return fits

    def take_back(self, count: int) -> None:
        """Roll the matcher back by `count` draft tokens; their masks stay."""
        if count and self.matcher is not None:
            self.matcher.rollback(count)

    def _masks(self, draft: tuple[int, ...]) -> Masks:
        """The masks of the next token and of those after `draft`. Near the token limit a grammar
        allows only tokens after which the output can still be completed. Where a canonical token is
        to enter by itself, it is the only one allowed."""
        if self.matcher is None and not draft and not self.request.trace:
            return self.free
        if self._run:
            words = np.zeros((1 + len(draft), len(self.free_words)), np.int32)
            word, bit = divmod(self._run[0], 32)
            words[0, word] = np.uint32(1 << bit).astype(np.int32)
            return Masks(tuple(words), places=(CANONICAL,) if self.request.trace else ())
        return self._fill(draft, self.left)

    def _fill(self, draft: tuple[int, ...], left: int) -> Masks:
        """Return the masks of the next token, `left` tokens before the limit, and of the tokens
        after each of `draft`."""
        matcher, count = self.matcher, 1 + len(draft)
        if matcher is None:
            nowhere = (NOWHERE,) * count if self.request.trace else ()
            return Masks((self.free_words,) * count, places=nowhere)
        begin = time.perf_counter()
        hits = 0
        words: list[Mask] = []
        frees: list[tuple[int, Mask]] = []
        places: list[Place] = []
        for number in range(count):
            if number:
                matcher.accept(draft[number - 1])
            hits += matcher.known
            mask = matcher.mask(left - number)
            words.append(mask)
            if (free := self._free_mask(mask, left - number)) is not None:
                frees.append((number, free))
            if self.request.trace:
                places.append(Place(matcher.row, matcher.state))
        self.take_back(len(draft))
        seconds = time.perf_counter() - begin
        return Masks(tuple(words), count, hits, seconds, tuple(places), tuple(frees))

    # Proposals of a draft model, while no post-step work is pending -------------------------------

    @property
    def guessable(self) -> int:
        """Upper bound on the draft tokens that may be proposed; 0 while the next token's mask is
        not filled, or where the grammar forces that token."""
        if self.drafter is None or self._run or self._missed or self.masks is None:
            return 0
        return self.left - 1

    def last_mask(self, number: int) -> Mask:
        """The mask under which draft token `number`, counted from 0, is drawn."""
        assert self.masks is not None
        return self.masks.words[number]

    def guess(self, token: int, number: int) -> Masks | None:
        """Accept `token` as draft token `number`, counted from 0, and return the mask of the token
        after it, which is appended to `masks`. None, with nothing changed, where it may not follow.
        Nothing changes either where the grammar raises; it will raise again if the text gets
        there."""
        masks, left = self.masks, self.left - number - 1
        assert masks is not None
        if not self._may_follow(token, left):
            return None
        try:
            mask = self._fill((), left)
        except Exception:
            self.take_back(1)
            raise
        self.masks = Masks(
            (*masks.words[: number + 1], *mask.words),
            *(masks.rows, masks.hits, masks.seconds),
            places=(*masks.places[: number + 1], *mask.places),
            free=(
                *(known for known in masks.free if known[0] <= number),
                *((number + 1, free) for _, free in mask.free),
            ),
        )
        return mask

    def take_draft(self, guesses: list[int]) -> None:
        """Draft `guesses`, as far as the grammar allows them, and fill the masks."""
        draft = self._allowed(guesses)
        self.sequence.draft, self.sequence.by_model = draft, False
        self.masks = self._masks(tuple(draft))

    # Text ---------------------------------------------------------------------------------------

    def _delta(self, reason: FinishReason | None) -> Delta:
        """A delta of everything not yet sent; with a finish reason, also the text that was held
        back. The caller holds the lock."""
        text, self._text = self._text, ""
        if reason is not None:
            text += self.emitter.finish()
            if reason is FinishReason.LENGTH and self.emitter.stopped:
                reason = FinishReason.STOP_STRING
        tokens, self._unsent = tuple(self._unsent), []
        scores, self.scores = tuple(self.scores[: len(tokens)]), self.scores[len(tokens) :]
        final = None if reason is None else self._final(reason)
        at = self.shortened_at
        if reason is None and at is not None and at >= self._digested:
            at = None  # a token that is still to be processed
        stop: str | int | None = self._last if reason is FinishReason.STOP_TOKEN else None
        if reason is FinishReason.STOP_STRING:
            stop = self.emitter.stop
        return Delta(text, tokens, final, None, scores, stop, at)
