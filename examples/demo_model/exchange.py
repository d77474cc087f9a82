"""Exchanged words: the same example with other tokens in its values.

Copying must work for every token, also for those that the corpus seldom shows. So in most of the
training examples, word pieces that stand in the text and in the answer (and not in the schema or
the tools) become random pieces of the vocabulary, the same ones in both places. "Lives in Lo‧nd‧on"
may become "lives in Kr‧olt‧on": it reads like a made-up name and can only be copied.
"""

import random
import re

from transformers import PreTrainedTokenizerFast

EXAMPLES, PIECES = 0.6, 0.7
"""Shares: of examples that are changed, and of their pieces."""


class Exchange:
    """The pieces of a tokenizer: those that begin with a capital, and the others."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        vocabulary = tokenizer.get_vocab()
        capital = [i for text, i in vocabulary.items() if re.fullmatch("[A-Z][a-z]*", text)]
        lower = [i for text, i in vocabulary.items() if re.fullmatch("[a-z]+", text)]
        self.pools = {i: pool for pool in (sorted(capital), sorted(lower)) for i in pool}
        self.user = tokenizer.convert_tokens_to_ids("<|user|>")

    def __call__(
        self, rng: random.Random, prompt: list[int], answer: list[int]
    ) -> tuple[list[int], list[int]]:
        """Prompt and answer of the changed example, of the same lengths."""
        start = len(prompt) - prompt[::-1].index(self.user)
        if start == 1 or rng.random() >= EXAMPLES:  # neither schema nor tools: no extraction
            return prompt, answer
        head, text = prompt[:start], prompt[start:]
        shared = (set(answer) & set(text)) - set(head)
        taken = {*prompt, *answer}
        new: dict[int, int] = {}
        for token in sorted(shared & self.pools.keys()):
            if rng.random() < PIECES:
                free = [i for i in rng.sample(self.pools[token], 8) if i not in taken]
                new[token] = free[0] if free else token
                taken.add(new[token])
        return (
            [*head, *(new.get(token, token) for token in text)],
            [new.get(token, token) for token in answer],
        )
