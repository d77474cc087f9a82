"""Vocabularies: tokens as bytes, from any fast tokenizer.

- `array_cache`: A cache on disk for arrays that depend on a vocabulary alone.
- `hugging_face`: Reads a fast Hugging Face tokenizer.
- `least_tokens`: How many tokens texts take at least, by their length alone.
- `spellings`: Spells bytes with the fewest tokens.
- `text_encoder`: Cuts texts into tokens as the tokenizer does, while other threads go on.
- `trie`: The vocabulary as a prefix tree in flat arrays, in two layouts.
- `vocabulary`: A model's tokens as bytes, by id.
"""

from maskwright.vocab.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
