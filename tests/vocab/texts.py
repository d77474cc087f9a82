"""Texts that break careless tokenizer readers, and a small corpus to train tokenizers on."""

from __future__ import annotations

CORPUS = (
    "The quick brown fox jumps over the lazy dog; the dog doesn't mind.",
    'People: {"name": "Ada Lovelace", "born": 1815, "tags": ["maths", "engines"]}',
    "def main() -> int:\n    return 0\n\n\tif x == 1:\n",
    "Grüße aus Köln, à bientôt! Ελληνικά, русский текст.",
    "日本語のテキストです。 中文文本。 한국어 텍스트.",
    "Emoji 🙂🙂 👩‍👩‍👧‍👦 and flags 🇳🇴.",
)

# In the form NFC, with single spaces between words: what every family of tokenizer keeps.
PLAIN = (
    " the quick brown fox",
    " Ada Lovelace was born 1815",
    " lazy dog over the dog",
)

TEXTS = (
    *CORPUS,
    *PLAIN,
    "",
    " ",
    "   ",
    " x",
    "x ",
    "\n",
    "\n\n  \r\n\t",
    '"',
    '{"a":[1,2.5e-3,null]}',
    "cafe\u0301 A\u030angstro\u0308m",
    "\u2581 is the mark that sentencepiece writes for a space",
    "<0x41> is text, too; and so is <s> or </s>",
    "##ing",
    "\x00\x01\x7f",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0010ffff",
    "a" * 300,
    "zero\u200bwidth\u200djoiner\ufeff",
)
