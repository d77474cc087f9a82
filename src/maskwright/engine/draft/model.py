"""A draft model: a smaller model with equal tokens proposes what the large model will draw.

Draft tokens are drawn just as the large model's tokens will be: under the grammar's mask, through
the chain of logits processors, with the random numbers of the request's seed and the token's
position. So models with similar logits draw equal tokens, at any temperature. A token that differs
is rejected (see `Core`), so the output depends on the large model alone.

Tokens are proposed for all sequences together, one token in each pass, in the engine's thread and
while no post-step work is pending for them. Keys and values are in a pool of the draft model's own.
They are computed for a sequence when tokens are first proposed for it. Later passes append to them,
and overwrite the keys and values of rejected tokens.
"""

from __future__ import annotations

import time
from collections.abc import Sequence as SequenceOf

import numpy as np
import torch
from msgspec import Struct, field
from torch import Tensor

from maskwright.engine.draft.length import DraftLengthModel
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.request.active import Active, Masks
from maskwright.engine.schedule.sequence import SHORT, Phase, Sequence
from maskwright.errors import GenerationError, InputError
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import clear_blocks
from maskwright.models import Decoder, LoadedModel, Run, lay_out
from maskwright.sampling import sample
from maskwright.vocab import Vocabulary

Filled = tuple[Active, Masks]
"""A request, and the mask after a draft token for it."""


class _Past(Struct, eq=False):
    """The draft model's state of one sequence. The blocks of `table` hold keys and values of the
    sequence's first `computed` tokens, and then of the draft tokens `ahead`. `acceptance`: the
    acceptance rate, see `DraftLengthModel`. `resting`: nothing was proposed in the last step,
    because it would not have saved time."""

    acceptance: float
    table: list[int] = field(default_factory=list[int])
    computed: int = 0
    ahead: list[int] = field(default_factory=list[int])
    resting: bool = False

    def catch_up(self, tokens: list[int]) -> None:
        """Count accepted draft tokens as computed; keys and values of the others will be
        overwritten."""
        for guess in self.ahead:
            if self.computed == len(tokens) or tokens[self.computed] != guess:
                break
            self.computed += 1
        self.ahead = []
        # The last one is computed again, for its logits.
        self.computed = min(self.computed, len(tokens) - 1)


class _Walk(Struct, eq=False):
    """The draft of one sequence while it is made, of at most `most` tokens."""

    active: Active
    past: _Past
    most: int
    draft: list[int] = field(default_factory=list[int])

    def run(self, budget: int) -> Run:
        """Return the tokens that the draft model computes next for this sequence, at most `budget`:
        first the sequence's own tokens that it has not computed, then the last draft token. Logits
        are only computed with the last of the sequence's own tokens."""
        tokens, past = self.active.sequence.tokens, self.past
        if self.draft:
            past.ahead.append(self.draft[-1])
            return Run(self.draft[-1:], past.computed + len(past.ahead) - 1, past.table, 1)
        start = past.computed
        past.computed = min(len(tokens), start + budget)
        rows = int(past.computed == len(tokens))
        return Run(tokens[start : past.computed], start, past.table, rows)


class DraftModel:
    """The draft model with its pool of `blocks` blocks and a trash block. `vocab_size` is that of
    the large model. A pass computes at most `most_rows` rows."""

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
        """Propose tokens for the sequences of `decoding` for which this saves time. Sets their
        drafts, fills the masks after the draft tokens, and returns these masks."""
        for sequence in [s for s in self._pasts if s.phase is not Phase.RUNNING]:
            self.forget(sequence)
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
        """Begin the draft of a sequence. None if nothing should be proposed: it has a draft
        already, the grammar forces the next token, an adapter changes the large model, drafting
        doesn't save time, or there is no free block."""
        sequence = active.sequence
        if sequence.draft or sequence.adapter is not None or not active.guessable:
            return None
        past = self._pasts.get(sequence)
        if past is None:
            if max(sequence.tokens) >= self._decoder.vocab_size:
                return None  # an id that only the large model's padded vocabulary has
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
        """Extend the table of `past` to so many positions. False if there are not enough blocks."""
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

    def _pass(self, walks: list[_Walk], masks: list[Filled]) -> list[_Walk]:
        """Run one forward, draw a token for each of `walks` that has logits, and return those that
        can continue. A sequence with too many tokens to compute continues in the next step."""
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
        """Draw a token for each of `walks` from its row of `logits`, in the way in which the large
        model's token will be drawn. Rows from which none can be drawn are left out."""
        if not walks:
            return []
        missing = self._vocab_size - logits.shape[1]
        if missing:  # the paddings differ; no mask allows padding
            logits = torch.nn.functional.pad(logits, (0, missing), value=float("-inf"))
        words = np.stack([walk.active.last_mask(len(walk.draft)) for walk in walks])
        rows = [walk.active.sample_row(walk.draft) for walk in walks]
        drawn = sample(logits, rows, torch.from_numpy(words))
        return [
            (walk, token)
            for walk, token in zip(walks, drawn, strict=True)
            if not isinstance(token, GenerationError)
        ]

    def judge(self, sequence: Sequence, proposed: int, accepted: int) -> None:
        """Record that of `proposed` draft tokens the first `accepted` were drawn."""
        past = self._pasts.get(sequence)
        before = self.length_model.acceptance if past is None else past.acceptance
        acceptance = self.length_model.judged(before, proposed, accepted)
        if past is not None:
            past.acceptance = acceptance

    def forget(self, sequence: Sequence) -> None:
        """Release the blocks of `sequence`, and forget its state."""
        past = self._pasts.pop(sequence, None)
        if past is not None:
            self.blocks.release(past.table)

    def check(self) -> None:
        """Assert the invariants of the pool."""
        self.blocks.check(past.table for past in self._pasts.values())


def _guess(walk: _Walk, token: int, masks: list[Filled]) -> bool:
    """Append `token` to the draft. False if the draft can't be continued."""
    try:
        mask = walk.active.guess(token, len(walk.draft))
    except Exception:  # any error of a grammar concerns a text that is only a draft
        return False
    if mask is None:
        return False
    masks.append((walk.active, mask))
    walk.draft.append(token)
    return len(walk.draft) < walk.most


def check_vocabulary(large: LoadedModel, draft: LoadedModel) -> None:
    """Raise `InputError` unless equal ids are equal tokens in both models. The padding of their
    logits, and their end tokens, may differ."""
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
    """Return the tokens of a vocabulary without the padding at its end."""
    count = vocab.size
    while count and not vocab.tokens[count - 1]:
        count -= 1
    return vocab.tokens[:count]
