"""Vocabularies: tokens as bytes, from any fast tokenizer.

- `array_cache`: A cache on disk for arrays that depend on a vocabulary alone.
- `decoder`: Computes the bytes that a token adds to a text from its form in a tokenizer.
- `hugging_face`: Reads a fast Hugging Face tokenizer.
- `spellings`: Spells bytes with the fewest tokens.
- `trie`: The vocabulary as a prefix tree in flat arrays, in two layouts.
- `vocabulary`: A model's tokens as bytes, by id.
"""

from maskwright.vocab.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
