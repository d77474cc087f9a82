"""A draft model: a smaller model with the same tokens guesses what the large one will draw.

Its guesses are drawn as the large model's tokens will be: under the grammar's mask, through the
same chain, with the noise of the same seed and position. Models that think alike so draw the same
token, at any temperature. What is wrong is not accepted (`Core`), so the tokens are those of the
large model alone, whatever the draft model says.

All sequences that are worth it guess together, one token a pass, in the engine's thread, while
nothing of them is being digested. Keys and values are in a pool of the draft model's own. They are
computed when a sequence first guesses, behind the tokens that have been computed already, and over
those of guesses that were wrong.
"""

from __future__ import annotations

import time
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from maskwright.engine.draft.length import DraftLengthModel
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.request.active import Active, Masks
from maskwright.engine.schedule.sequence import SHORT, Phase, Sequence
from maskwright.errors import GenerationError, InputError
from maskwright.kernels.kv_pool import KvDtype, clear_blocks
from maskwright.models import Decoder, LoadedModel, Run, lay_out
from maskwright.sampling import ChainBatch, sample
from maskwright.vocab import Vocabulary

Filled = tuple[Active, Masks]
"""A request and the mask after a guess for it."""


@dataclass(slots=True, eq=False)
class _Past:
    """What the draft model has of one sequence: keys and values, in the blocks of `table`, of its
    first `computed` tokens and then of the guesses `ahead`. `acceptance`: see
    `DraftLengthModel`; `resting`: guesses did not pay in the last step."""

    acceptance: float
    table: list[int] = field(default_factory=list[int])
    computed: int = 0
    ahead: list[int] = field(default_factory=list[int])
    resting: bool = False

    def catch_up(self, tokens: list[int]) -> None:
        """Guesses that came true count as computed; the others will be computed over."""
        for guess in self.ahead:
            if self.computed == len(tokens) or tokens[self.computed] != guess:
                break
            self.computed += 1
        self.ahead = []
        self.computed = min(self.computed, len(tokens) - 1)  # the last gives the first guess


@dataclass(slots=True, eq=False)
class _Walk:
    """The guesses for one sequence, `most` at most, as they are made."""

    active: Active
    past: _Past
    most: int
    draft: list[int] = field(default_factory=list[int])

    def run(self, budget: int) -> Run:
        """What comes next for the draft model, of `budget` tokens at most: what it has not seen of
        the sequence, then the last guess. No logits where something of that is left."""
        tokens, past = self.active.sequence.tokens, self.past
        if self.draft:
            past.ahead.append(self.draft[-1])
            return Run(self.draft[-1:], past.computed + len(past.ahead) - 1, past.table, 1)
        start = past.computed
        past.computed = min(len(tokens), start + budget)
        rows = int(past.computed == len(tokens))
        return Run(tokens[start : past.computed], start, past.table, rows)


class DraftModel:
    """Owns the draft model's keys and values, `blocks` blocks and the trash block, and knows what
    is in them. `vocab_size` is the large model's; `most_rows` are computed at once."""

    def __init__(
        self,
        decoder: Decoder,
        length_model: DraftLengthModel,
        *,
        vocab_size: int,
        blocks: int,
        block_size: int,
        most_rows: int,
        kv_dtype: KvDtype = "auto",
    ) -> None:
        self.length_model = length_model
        self.blocks = BlockPool(blocks, block_size)
        self._decoder = decoder
        self._vocab_size = vocab_size
        self._most_rows = most_rows
        self._pool = decoder.new_pool(blocks + 1, block_size, kv_dtype)
        self._pasts: dict[Sequence, _Past] = {}

    @torch.inference_mode()
    def propose(self, decoding: SequenceOf[Active]) -> list[Filled]:
        """Guess for those of `decoding` for which it pays: their drafts are set, and the masks
        after them, which are returned as well."""
        self._sweep()
        walks = [w for active in decoding if (w := self._begin(active, len(decoding))) is not None]
        if not walks:
            self.length_model.fade()
        masks: list[Filled] = []
        going = walks
        while going:
            going = self._pass(going, masks)
        for walk in walks:
            walk.active.take_back(len(walk.draft))
            sequence = walk.active.sequence
            sequence.draft, sequence.by_model = walk.draft, True
        return masks

    def _begin(self, active: Active, decoding: int) -> _Walk | None:
        """None where nothing should be guessed: something certain comes next, or a guess is there
        already; an adapter changes the large model; it doesn't pay; or there is no room."""
        sequence = active.sequence
        if sequence.draft or sequence.adapter is not None or not active.guessable:
            return None
        past = self._pasts.get(sequence)
        if past is None:
            if max(sequence.tokens) >= self._decoder.vocab_size:
                return None  # padding of the large model's vocabulary
            past = self._pasts[sequence] = _Past(self.length_model.acceptance)
        most = min(
            self.length_model.length(past.acceptance, decoding),
            active.guessable,
            self._decoder.max_positions - len(sequence.tokens),
        )
        past.resting = most <= 0
        if past.resting:
            past.acceptance = self.length_model.rested(past.acceptance)
            return None
        past.catch_up(sequence.tokens)
        return _Walk(active, past, most) if self._room(past, len(sequence.tokens) + most) else None

    def _room(self, past: _Past, positions: int) -> bool:
        """Make the table of `past` hold so many positions, if there are blocks for them."""
        missing = self.blocks.needed(positions) - len(past.table)
        if missing > self.blocks.free:
            for other in self._pasts.values():
                if other.resting:
                    self.blocks.release(other.table)
                    other.table, other.computed, other.ahead = [], 0, []
        if missing > self.blocks.free:
            return False
        if missing > 0:
            taken = self.blocks.allocate(missing)
            clear_blocks(self._pool, taken)
            past.table += taken
        return True

    def _sweep(self) -> None:
        """Give back what is kept of sequences that don't run."""
        for sequence in [s for s in self._pasts if s.phase is not Phase.RUNNING]:
            self.forget(sequence)

    def _pass(self, walks: list[_Walk], masks: list[Filled]) -> list[_Walk]:
        """One forward and one guess for each of `walks`; those that go on. What a sequence has too
        much to compute for is left for the next step."""
        begin = time.perf_counter()
        runs: list[Run] = []
        drawing: list[_Walk] = []
        rows = 0
        for walk in walks:
            if rows < self._most_rows:
                runs.append(walk.run(self._most_rows - rows))
                rows += len(runs[-1].tokens)
                drawing += [walk] * runs[-1].rows
        batch = lay_out(runs, self.blocks.block_size, self._decoder.plan)
        logits = self._decoder.forward(batch, self._pool)[: len(drawing)]
        going = [walk for walk, token in self._draw(drawing, logits)
                 if _guess(walk, token, masks)]  # fmt: skip
        if all(len(run.tokens) <= SHORT for run in runs):
            self.length_model.observe_pass(rows, time.perf_counter() - begin)
        return going

    def _draw(self, walks: list[_Walk], logits: Tensor) -> list[tuple[_Walk, int]]:
        """The guess of each of `walks`, where its row of `logits` has one, as the large model would
        draw it."""
        if not walks:
            return []
        missing = self._vocab_size - logits.shape[1]
        if missing:  # the paddings differ, which no mask allows
            logits = torch.nn.functional.pad(logits, (0, missing), value=float("-inf"))
        words = np.stack([walk.active.last_mask(len(walk.draft)) for walk in walks])
        rows = [walk.active.sample_row(walk.draft) for walk in walks]
        drawn = sample(logits, ChainBatch(rows, torch.from_numpy(words)))
        return [
            (walk, token)
            for walk, token in zip(walks, drawn, strict=True)
            if not isinstance(token, GenerationError)
        ]

    def judge(self, sequence: Sequence, proposed: int, accepted: int) -> None:
        """Of `proposed` guesses, the first `accepted` were what was drawn."""
        past = self._pasts.get(sequence)
        before = self.length_model.acceptance if past is None else past.acceptance
        acceptance = self.length_model.judged(before, proposed, accepted)
        if past is not None:
            past.acceptance = acceptance

    def forget(self, sequence: Sequence) -> None:
        """Give back what is kept of `sequence`."""
        past = self._pasts.pop(sequence, None)
        if past is not None:
            self.blocks.release(past.table)

    def check(self) -> None:
        """Assert the invariants of the pool."""
        self.blocks.check(past.table for past in self._pasts.values())


def _guess(walk: _Walk, token: int, masks: list[Filled]) -> bool:
    """Take `token` as the next guess; False if there can be no more."""
    try:
        mask = walk.active.guess(token, len(walk.draft))
    except Exception:  # whatever a grammar raises in a text that is only guessed
        return False
    if mask is None:
        return False
    masks.append((walk.active, mask))
    walk.draft.append(token)
    return len(walk.draft) < walk.most


def check_vocabulary(large: LoadedModel, draft: LoadedModel) -> None:
    """Raise `InputError` unless both models have the same tokens by the same ids; how far their
    rows of logits are padded, and which tokens end an answer, doesn't matter."""
    ours, theirs = _tokens(large.vocab), _tokens(draft.vocab)
    if ours == theirs and large.vocab.special_tokens == draft.vocab.special_tokens:
        return
    pairs = enumerate(zip(ours, theirs, strict=False))
    different = next((i for i, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
    raise InputError(
        f"The draft model {draft.name} has other tokens than {large.name}: they differ from id "
        f"{different} on, or in their special tokens. A draft model needs the same vocabulary.",
        param="draft_model",
    )


def _tokens(vocab: Vocabulary) -> tuple[bytes, ...]:
    """What the ids stand for, without those at the end that stand for nothing."""
    count = vocab.size
    while count and not vocab.tokens[count - 1]:
        count -= 1
    return vocab.tokens[:count]
