"""Log-probabilities of tokens in OpenAI's form, each sent with the text of its token.

Tokens may be ahead of the text, because part of a character and the beginning of a possible stop
string are held back. An entry is sent with the text in which its token begins. Tokens that belong
to no text of the answer (end tokens, stop strings) have no entry.

Log-probabilities of prompts have vLLM's form (`prompt_logprobs`), or come first in text completions
that return the prompt before the answer (`echo`). There each token of the answer has an entry too,
as many as the usage counts: clients that score a prompt count from the end.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, cast

from maskwright.engine import TokenScore
from maskwright.sampling import PromptScores, Scale
from maskwright.server.answer.parts import Part, TextPart
from maskwright.server.json import Json
from maskwright.vocab import Vocabulary

LEAST: Final = -9999.0
"""The log-probability of an impossible token, since JSON has no infinity."""

_DECODER = codecs.getincrementaldecoder("utf-8")


class TokenNames:
    """How tokens are named: by their texts, or with `as_ids` by their ids."""

    def __init__(self, vocab: Vocabulary, *, as_ids: bool = False) -> None:
        self._as_ids = as_ids
        self._texts = vocab.tokens
        self._special = {token: name for name, token in vocab.special_tokens.items()}

    def name(self, token: int) -> str:
        """Return the text of a token. Parts of characters become U+FFFD."""
        return self._texts[token].decode(errors="replace") or self._special.get(token, "")

    def spelled(self, token: int) -> bytes:
        """Return the bytes of a token; of a control token, its name."""
        return self._texts[token] or self._special.get(token, "").encode()

    def scored(self, token: int, value: float | None) -> Json:
        """Return a token with its log-probability; None if it is impossible."""
        return {
            "token": f"token_id:{token}" if self._as_ids else self.name(token),
            "logprob": LEAST if value is None else max(value, LEAST),
            "bytes": list(self._texts[token]),
        }


class TokenPlaces:
    """Where tokens begin in their text, in which a broken character is U+FFFD. `before`: how many
    characters come before the first one."""

    def __init__(self, before: int = 0) -> None:
        self._read = before
        self._decoder = _DECODER("replace")

    def next(self, data: bytes) -> int:
        """Return how many characters come before the next token, whose bytes are `data`; all of
        those, where it goes on with a character that was begun."""
        begun = self._decoder.getstate()[0]
        place = self._read + (bool(begun) and not _continues(begun, data))
        self._read += len(self._decoder.decode(data))
        return place


def _continues(begun: bytes, data: bytes) -> bool:
    """Whether `data` goes on with the character whose first bytes are `begun`. A token without text
    doesn't: it comes after that, which may never end."""
    try:
        _DECODER("strict").decode(begun + data[:1])
    except UnicodeDecodeError:
        return False
    return bool(data)


class ScoreReader:
    """Makes the entries of one answer from its beginning. `scale`: which log-probability they
    contain, the model's own or the one among the tokens that the grammar allows. `as_ids`: a token
    is named by its id. `every`: tokens that belong to no text have an entry too, at the end."""

    def __init__(
        self, vocab: Vocabulary, scale: Scale, *, as_ids: bool = False, every: bool = False
    ) -> None:
        self._every = every
        self._names = TokenNames(vocab, as_ids=as_ids)
        self._texts = vocab.tokens
        self._scale: Scale = scale
        self._places = TokenPlaces()
        self._sent = 0
        self._held: deque[tuple[int, Json]] = deque()
        """Entries that were not sent yet, each with the place of its first character."""
        self._unplaced: deque[tuple[int, Json]] = deque()
        """Entries that may begin in parts that have not been read yet."""
        self._end = 0
        """The end of the last text that was read as a part."""

    def read(
        self, text: str, token_ids: Sequence[int], scores: Sequence[TokenScore], *, final: bool
    ) -> list[Json]:
        """Return the entries to send with the new text `text`, after adding new tokens and their
        scores; `final` if they are the last ones."""
        for token, score in zip(token_ids, scores, strict=False):
            entry = (self._places.next(self._texts[token]), self._entry(score))
            self._held.append(entry)
            self._unplaced.append(entry)
        self._sent += len(text)
        ready: list[Json] = []
        rest = final and self._every
        while self._held and (rest or self._held[0][0] < self._sent):
            ready.append(self._held.popleft()[1])
        return ready

    def place(self, parts: Sequence[Part]) -> list[Part]:
        """Return the next parts of the answer, after their tokens have been read, with each text
        having the entries of the tokens that begin in it. Those of calls and reasoning, and of the
        control tokens around them, have no place."""
        return [self._placed(part) if isinstance(part, TextPart) else part for part in parts]

    def _placed(self, part: TextPart) -> TextPart:
        follows, self._end = part.at == self._end, part.at + len(part.text)
        entries: list[Json] = []
        while self._unplaced and self._unplaced[0][0] < self._end:
            place, entry = self._unplaced.popleft()
            # A token without text at the beginning is of the text if that continues another one.
            if place > part.at or (place == part.at and (follows or entry["bytes"])):
                entries.append(entry)
        return replace(part, logprobs=entries)

    def _entry(self, score: TokenScore) -> Json:
        own = score.raw if self._scale == "raw" else score.masked
        others = [
            self._names.scored(other.token, other.raw if self._scale == "raw" else other.masked)
            for other in score.top
        ]
        return {**self._names.scored(score.token, own), "top_logprobs": others}


class PromptLogprobs:
    """The fields of one request's answers that hold log-probabilities of prompts. They are the
    model's own, since no grammar restricts a prompt."""

    def __init__(
        self,
        names: TokenNames,
        scores: Callable[[int], PromptScores | None],
        most: int | None,
        most_echoed: int,
    ) -> None:
        """`scores(i)`: the scores of choice `i`'s prompt, None if it has only one token. `most`:
        how many of the likeliest tokens `prompt_logprobs` lists, None if the client doesn't ask for
        this field; `most_echoed`: how many there are before an answer."""
        self._names = names
        self._scores = scores
        self._most = most
        self._most_echoed = most_echoed

    def field(self, index: int) -> Json:
        """Return `prompt_logprobs` of choice `index`: for each token of the prompt, its id and the
        ids of the likeliest tokens with their log-probabilities and ranks; null for the first
        token, before which there is none."""
        if self._most is None:
            return {}
        listed: list[Json | None] = [None]
        scores = self._scores(index)
        for score in () if scores is None else scores.read(self._most):
            entry: Json = {str(score.token): self._ranked(score.token, score.logprob, score.rank)}
            for rank, (token, value) in enumerate(score.top, 1):
                entry[str(token)] = self._ranked(token, value, rank)
            listed.append(entry)
        return {"prompt_logprobs": listed}

    def _ranked(self, token: int, logprob: float, rank: int) -> Json:
        return {
            "logprob": max(logprob, LEAST),
            "rank": rank,
            "decoded_token": self._names.name(token),
        }

    def entries(self, index: int, prompt: Sequence[int], text: str) -> list[Json]:
        """Return an entry for each token of the `prompt` of choice `index`, whose text is `text`,
        in the form of chat completions. Of the first token, value and alternatives are None."""
        scores, data, at = self._scores(index), text.encode(), 0
        entries: list[Json] = [
            {**self._names.scored(prompt[0], 0.0), "logprob": None, "top_logprobs": None}
        ]
        for score in () if scores is None else scores.read(self._most_echoed):
            others = [self._names.scored(*other) for other in score.top]
            own = self._names.scored(score.token, score.logprob)
            entries.append({**own, "top_logprobs": others})
        for token, entry in zip(prompt, entries, strict=False):
            piece = self._names.spelled(token)
            if data.startswith(piece, at):  # a control token may be spelled in a prompt, or not
                entry["bytes"] = list(piece)
            at += len(cast(list[int], entry["bytes"]))
        return entries
