"""Vocabularies: tokens as bytes, from any fast tokenizer.

- `decoder`: From a piece, as a tokenizer stores it, to the bytes it adds to a text.
- `hugging_face`: Reading a fast Hugging Face tokenizer, by its shape.
- `kept`: Arrays kept on disk.
- `spellings`: Spelling bytes by tokens, where no tokenizer says how.
- `trie`: The vocabulary as a trie in flat arrays, laid out depth first.
- `vocabulary`: A model's vocabulary as bytes.
"""

from maskwright.vocab.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
