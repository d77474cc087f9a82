"""Vocabularies: tokens as bytes, from any fast tokenizer."""

from maskwright.vocab.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
