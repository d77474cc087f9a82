"""A model's vocabulary as bytes: what each token id adds to the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, cast, final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf import special_tokens as special
from maskwright.errors import InputError, named, whole_number
from maskwright.vocab.array_cache import ArrayCache, Arrays
from maskwright.vocab.hugging_face import is_tokenizer, read_tokenizer
from maskwright.vocab.spellings import Spellings
from maskwright.vocab.trie import SiblingTrie, Trie

WORTH_KEEPING: Final = 10_000
"""Number of ids from which on the cache is used. Tables of smaller vocabularies are computed
fast."""

Encoder = Callable[[bytes], list[int] | None]


@final
class Vocabulary:
    """The tokens of a model by id. Immutable; can be shared between threads.

    `tokens[i]` is what token `i` adds to a text that has already begun. Ids that add no text
    (special and end tokens, padding of the model's output layer, unused ids) have `b""`. No mask
    allows them, except end tokens where the text may end. Ids with equal bytes are allowed or
    forbidden together. `special_tokens` has the ids of the special tokens by name; the name is what
    the argument `tokens` contains for them.

    `cache`: a folder for results that take long to compute from a large vocabulary, which other
    processes can use; None to store nothing. See `array_cache.ArrayCache`.

    Raises `InputError` for a token that isn't bytes, or a special or end id out of range.
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        *,
        special: Iterable[int] = (),
        eos: Iterable[int] | int = (),
        cache: Path | None = None,
    ) -> None:
        texts = _listed(tokens)
        for token_id, token in enumerate(texts):
            if not isinstance(token, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]  (callers)
                kind = type(token).__name__
                raise InputError(f"token {token_id} is {kind}, not bytes", param="tokens")
        if not any(texts):
            raise InputError("a vocabulary needs a token that isn't empty", param="tokens")
        self.eos: tuple[int, ...] = tuple(dict.fromkeys(_ids(eos, len(texts), "eos")))
        self.special: frozenset[int] = frozenset((*_ids(special, len(texts), "special"), *self.eos))
        self.special_tokens: dict[str, int] = {}
        for token_id in sorted(self.special, reverse=True):
            self.special_tokens[texts[token_id].decode(errors="replace")] = token_id
            texts[token_id] = b""
        self.special_tokens.pop("", None)
        self.tokens: tuple[bytes, ...] = tuple(texts)
        self.shared: object = None
        """The tables that all grammars over the vocabulary share; see
        `mask.shared.vocabulary_tables`."""
        self._encoder: Encoder | None = None
        self._cache = Path(cache) if cache and len(texts) >= WORTH_KEEPING else None

    @classmethod
    def from_tokenizer(
        cls,
        tokenizer: object,
        *,
        size: int | None = None,
        eos: Iterable[int] | int | None = None,
        cache: Path | None = None,
    ) -> Vocabulary:
        """Read a fast Hugging Face tokenizer: from transformers, or a `tokenizers.Tokenizer`.

        `size`: the number of logits of the model, if this is larger than the tokenizer. `eos`: the
        ids of the end tokens; the default is the tokenizer's own. A bare `tokenizers.Tokenizer`
        names none, so for it they must be given (`()` if there is no end token).

        Raises `InputError` for a slow tokenizer, a decoder whose tokens have no fixed bytes, a
        `size` smaller than the tokenizer, or a missing `eos`.
        """
        read = read_tokenizer(tokenizer)
        padding = (len(read.tokens) if size is None else size) - len(read.tokens)
        if padding < 0:
            message = f"size {size} is smaller than the tokenizer, which has {len(read.tokens)} ids"
            raise InputError(message, param="size")
        if eos is None:
            eos = read.eos
        if eos is None:
            raise InputError("the tokenizer names no end token: pass its ids as eos", param="eos")
        vocabulary = cls(
            (*read.tokens, *[b""] * padding), special=read.special, eos=eos, cache=cache
        )
        vocabulary._encoder = read.encode
        return vocabulary

    @property
    def size(self) -> int:
        """V, the number of ids, padding included: the length of a row of logits."""
        return len(self.tokens)

    @property
    def words(self) -> int:
        """Length of a mask row in 32-bit words."""
        return (self.size + 31) // 32

    @cached_property
    def digest(self) -> str:
        """32 hex digits; equal if and only if tokens, special ids and end ids are equal."""
        data, begins = self._joined
        lengths = np.diff(begins).astype("<u4")
        ids = (sorted(self.special), self.eos)
        digest = blake2b(b"maskwright vocabulary 1\n", digest_size=16)
        digest.update(np.array([self.size, *map(len, ids)], dtype="<u8").tobytes())
        for part in (lengths, *(np.array(group, dtype="<u4") for group in ids)):
            digest.update(part.tobytes())
        digest.update(data)
        return digest.hexdigest()

    def encode(self, data: bytes) -> list[int]:
        """Return tokens whose joined bytes are `data`.

        They are the tokenizer's own division of `data` in the middle of a text, if there is a
        tokenizer and it keeps every byte; otherwise the fewest tokens. Raises `UnspellableError`
        if no tokens spell `data`.
        """
        if self._encoder is not None:
            ids = self._encoder(data)
            if ids is not None and self.decode(ids) == data:
                return ids
        return self.fewest(data)

    def fewest(self, data: bytes) -> list[int]:
        """Return the fewest tokens whose joined bytes are `data`. Raises `UnspellableError` if
        there are none."""
        return self._texts.fewest(data)

    def decode(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that these tokens add to a text; special ids add none."""
        return b"".join([self.tokens[token_id] for token_id in ids])

    @cached_property
    def spellings(self) -> tuple[bytes, ...]:
        """[V]: each token as the byte machine reads it: its bytes, or the spelling of its id for a
        special token that doesn't end the text (see `automaton.leaf.special_tokens`). Tokens that
        no text can contain are empty.
        """
        texts = [*self.tokens]
        for token_id in self.with_bytes(bytes((special.LEAD,))):
            texts[token_id] = b""
        for token_id in self.special.difference(self.eos):
            texts[token_id] = special.spelling(token_id)
        return tuple(texts)

    def spelled(self, data: bytes, texts: Spellings | None = None) -> list[int]:
        """The fewest tokens that the machine reads as `data`; those that add text are of `texts`,
        if that is given."""
        ids: list[int] = []
        for text, token_id in special.pieces(data):
            ids += (texts or self._texts).fewest(text) if token_id is None else [token_id]
        return ids

    def first_of(self, data: bytes) -> int:
        """The first token of `spelled(data)`, which is not empty, without listing the others."""
        text, token_id = next(special.pieces(data))
        return self._texts.first_of_fewest(text) if token_id is None else token_id

    def fewest_count(self, data: bytes) -> int:
        """The number of tokens in `spelled(data)`, without listing them. Raises
        `UnspellableError` if there are none."""
        return sum(
            self._texts.fewest_count(text) if token_id is None else 1
            for text, token_id in special.pieces(data)
        )

    def with_bytes(self, signs: bytes) -> list[int]:
        """The ids of the tokens that hold any of these bytes, ascending; special ids hold none."""
        data, begins = self._joined
        is_sign = np.zeros(256, np.bool_)
        is_sign[list(signs)] = True
        places = np.flatnonzero(is_sign[np.frombuffer(data, np.uint8)])
        return np.unique(np.searchsorted(begins, places, side="right") - 1).tolist()

    @cached_property
    def single_bytes(self) -> frozenset[int]:
        """The bytes that are tokens."""
        data, begins = self._joined
        return frozenset(np.frombuffer(data, np.uint8)[begins[:-1][np.diff(begins) == 1]].tolist())

    @cached_property
    def _joined(self) -> tuple[bytes, npt.NDArray[np.int64]]:
        """The bytes of all tokens, and [V + 1]: where each of them begins there."""
        begins = np.zeros(self.size + 1, np.int64)
        np.cumsum(np.fromiter(map(len, self.tokens), np.int64, self.size), out=begins[1:])
        return b"".join(self.tokens), begins

    @cached_property
    def trie(self) -> Trie:
        """All tokens that the machine can read, as a trie."""
        kept = self.kept("trie", lambda: Trie.build(self.spellings)._asdict())
        return Trie(**kept)  # pyright: ignore[reportArgumentType] - each field with its own dtype

    @cached_property
    def siblings(self) -> SiblingTrie:
        """The tokens of `trie` in its other layout."""
        return SiblingTrie.of(self.trie)

    def kept(self, name: str, compute: Callable[[], Arrays]) -> Arrays:
        """The arrays of `compute`, taken from the cache if it has them. They may depend on nothing
        but the vocabulary and the version of this package."""
        return (
            compute()
            if self._cache is None
            else ArrayCache(self._cache, self.digest).arrays(name, compute)
        )

    @cached_property
    def _texts(self) -> Spellings:
        return Spellings.of(self.tokens)

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: everything but what masks share, which another process makes anew."""
        return {**self.__dict__, "shared": None}

    def __copy__(self) -> Vocabulary:
        return self

    def __deepcopy__(self, memo: object) -> Vocabulary:
        """The vocabulary itself, which never changes, so that grammars over it share their work."""
        return self

    def __repr__(self) -> str:
        return f"Vocabulary({self.size} tokens, {len(self.special)} special, eos={self.eos})"


def _listed(tokens: Any) -> list[bytes]:
    """The tokens as a list. Raises `InputError` for what can't be one."""
    if is_tokenizer(tokens):
        raise InputError(
            "tokens has to be the bytes of each id: make a vocabulary of a tokenizer with "
            "Vocabulary.from_tokenizer(tokenizer)",
            param="tokens",
        )
    if not isinstance(tokens, Iterable):
        raise InputError(f"tokens has to be a list of bytes, not {named(tokens)}", param="tokens")
    return list(cast("Iterable[bytes]", tokens))


def _ids(ids: Any, size: int, param: str) -> tuple[int, ...]:
    """Ids as a tuple; one alone may be given as it is. Raises `InputError` for other things."""
    given: Iterable[Any] = ids if isinstance(ids, Iterable) and not isinstance(ids, str) else (ids,)
    checked = tuple(whole_number(token_id, param) for token_id in given)
    for token_id in checked:
        if not 0 <= token_id < size:
            message = f"{param} id {token_id} is not in the vocabulary of {size} tokens"
            raise InputError(message, param=param)
    return checked
