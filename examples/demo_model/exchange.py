"""Exchanged words: examples in whose values tokens are replaced by others.

The model must be able to copy every token, also those that are rare in the corpus. In most of the
training examples, therefore, word pieces that occur in the text and in the answer, but not in the
schema or the tools, are replaced by random pieces of the vocabulary, in both places by equal ones.
"Lives in Lo‧nd‧on" may become "lives in Kr‧olt‧on", which can only be copied.

In some examples a few pieces of the wording are replaced as well: "is employed by" may become "is
frouched by". The field to which a value belongs must then be found by the form of the value and by
the rest of the text.
"""

import random
import re

from transformers import PreTrainedTokenizerFast

from examples.demo_model.texts.words import NUMBER_WORDS

EXAMPLES, PIECES = 0.6, 0.7
"""The share of examples that are changed, and the share of pieces that are replaced in them."""
LETTERS = (0.25, 0.25, 0.5)
"""Shares of new pieces with one letter, with two and with more. The tokenizer cuts words that it
doesn't know into short pieces, which are rare in the corpus itself."""


NOISY, NOISE = 0.5, 0.15
"""The share of changed examples in which the wording is changed too, and the share of its pieces
that are replaced."""


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
        self.user = tokenizer.get_vocab()["<|user|>"]

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
