"""Exchanged words: the same example with other tokens in its values.

Copying must work for every token, also for those that the corpus seldom shows. So in most of the
training examples, word pieces that stand in the text and in the answer (and not in the schema or
the tools) become random pieces of the vocabulary, the same ones in both places. "Lives in Lo‧nd‧on"
may become "lives in Kr‧olt‧on": it reads like a made-up name and can only be copied.

In some examples a few pieces of the wording change as well: "is employed by" may become "is
frouched by", and which field a value belongs to has to follow from its looks and from the rest.
"""

import random
import re

from transformers import PreTrainedTokenizerFast

from examples.demo_model.texts.words import NUMBER_WORDS

EXAMPLES, PIECES = 0.6, 0.7
"""Shares: of examples that are changed, and of their pieces."""
LETTERS = (0.25, 0.25, 0.5)
"""Shares of new pieces of one letter, of two, of more: words the tokenizer doesn't know are cut
into short pieces, which the corpus alone seldom shows."""


NOISY, NOISE = 0.5, 0.15
"""Shares: of the changed examples whose wording is disturbed too, and of its pieces."""


class Exchange:
    """The pieces of a tokenizer: those that begin with a capital, and the others."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.pools: dict[int, tuple[list[int], ...]] = {}
        for pattern in ("[A-Z]", "[a-z]"):
            by_length = tuple(
                sorted(i for text, i in tokenizer.get_vocab().items() if re.fullmatch(form, text))
                for form in (pattern, f"{pattern}[a-z]", f"{pattern}[a-z]{{2,}}")
            )
            self.pools |= {i: by_length for pool in by_length for i in pool}
        counted = tokenizer(" ".join(NUMBER_WORDS), add_special_tokens=False)["input_ids"]
        self.wording = set(by_length[2]) - set(counted)
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
                pool = rng.choices(self.pools[token], LETTERS)[0]
                free = [i for i in rng.sample(pool, 8) if i not in taken]
                new[token] = free[0] if free else token
                taken.add(new[token])
        if rng.random() < NOISY:
            for token in sorted((set(text) & self.wording) - set(answer)):
                other = rng.choice(self.pools[token][2])
                if rng.random() < NOISE and other not in taken:
                    new[token] = other
        return (
            [*head, *(new.get(token, token) for token in text)],
            [new.get(token, token) for token in answer],
        )
