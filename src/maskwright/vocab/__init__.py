"""Vocabularies: tokens as bytes, from any fast tokenizer.

- `array_cache`: A cache of arrays on disk, for what follows from a vocabulary alone.
- `decoder`: From a token as a tokenizer stores it to the bytes that it adds to a text.
- `hugging_face`: Reading a fast Hugging Face tokenizer.
- `spellings`: Spelling bytes with the fewest tokens.
- `trie`: The vocabulary as a prefix tree in flat arrays, in two layouts.
- `vocabulary`: A model's tokens as bytes, by id.
"""

from maskwright.vocab.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
