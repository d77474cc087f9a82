"""What the class does is said in `bans.pyi`."""

import numpy as np

from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy

from maskwright.native cimport BUILT_FROM, const_int32s
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef class Bans:
    def __init__(self, params, Py_ssize_t prompt_length, eos, stop_tokens):
        self.prompt_length, self.ngram = prompt_length, params.no_repeat_ngram
        self.least = params.min_tokens
        self.early = list(eos | stop_tokens)
        self.late = list(eos) if params.ignore_eos else []
        self.single = [word[0] for word in params.bad_words if len(word) == 1]
        self.words = {}
        for word in params.bad_words:
            if len(word) > 1:
                self.words.setdefault(word[len(word) - 2], []).append(word)
        self.banned, self.allowed = params.banned, params.allowed_tokens
        self.allowed_bits = None
        self.reads = self.ngram > 0 or len(self.words) > 0

    def __dealloc__(self):
        free(self.tokens)
        free(self.found)

    def forbidden(self, tokens):
        cdef Py_ssize_t at
        self.find(list(tokens), [])
        return np.array([self.found[at] for at in range(self.count)], np.int64)

    def withheld(self, tokens):
        return self.withheld_after(len(tokens))

    def narrow(self, tokens, mask):
        cdef int32_t[::1] narrowed = np.empty(len(mask), np.int32)
        cdef int32_t[::1] fallback = np.empty(len(mask), np.int32)
        cdef bint withholds = self.narrow_into(
            list(tokens), [], const_int32s(mask), len(mask), &narrowed[0], &fallback[0]
        )
        return np.asarray(narrowed), np.asarray(fallback) if withholds else None

    cdef bint narrow_into(
        self, list tokens, list draft, const int32_t *mask, Py_ssize_t words, int32_t *narrowed,
        int32_t *fallback,
    ) except -1:
        cdef Py_ssize_t at
        cdef list ends = self.withheld_after(len(tokens) + len(draft))
        memcpy(narrowed, mask, words * sizeof(int32_t))
        if self.allowed is not None:
            if self.allowed_bits is None:
                self.allowed_bits = np.zeros(words, np.int32)
                for token in self.allowed:
                    _set(&self.allowed_bits[0], words, token)
            for at in range(words):
                narrowed[at] &= self.allowed_bits[at]
        self.find(tokens, draft)
        for at in range(self.count):
            _clear(narrowed, words, self.found[at])
        if not ends:
            return False
        memcpy(fallback, narrowed, words * sizeof(int32_t))
        for token in ends:
            _clear(narrowed, words, token)
        return True

    cdef list withheld_after(self, Py_ssize_t total):
        return self.early if total - self.prompt_length < self.least else self.late

    cdef int find(self, list tokens, list draft) except -1:
        """Find what may not follow a text and a draft after it."""
        cdef Py_ssize_t total = len(tokens) + len(draft)
        self.count = 0
        for token in self.single:
            self.forbid(token)
        if self.reads:
            self.learn(tokens, draft)
            self.find_repeated(total)
            self.find_words(total)
        if self.banned is not None:
            whole = tokens + draft if draft else tokens
            for token in self.banned.tokens(whole, self.prompt_length).tolist():
                self.forbid(token)
        return 0

    cdef int learn(self, list tokens, list draft) except -1:
        """Read the tokens that came since the last call, and the draft after them."""
        cdef Py_ssize_t total = len(tokens) + len(draft), at
        cdef void *moved
        if total > self.room:
            moved = realloc(self.tokens, 2 * total * sizeof(int64_t))
            if moved == NULL:
                raise MemoryError
            self.tokens, self.room = <int64_t *>moved, 2 * total
        for at in range(self.read, len(tokens)):
            self.tokens[at] = tokens[at]
        self.read = len(tokens)
        for at in range(len(draft)):
            self.tokens[self.read + at] = draft[at]
        return 0

    cdef int find_repeated(self, Py_ssize_t total) except -1:
        """Find the ends of n-grams that begin with the last tokens and were there already."""
        cdef Py_ssize_t before = self.ngram - 1, end
        if not 0 < self.ngram <= total:
            return 0
        for end in range(before, total):
            if before and self.tokens[end - 1] != self.tokens[total - 1]:
                continue
            if memcmp(
                self.tokens + end - before, self.tokens + total - before, before * sizeof(int64_t)
            ) == 0:
                self.forbid(self.tokens[end])
        return 0

    cdef int find_words(self, Py_ssize_t total) except -1:
        """Find the ends of bad words that the text has begun."""
        cdef tuple word
        cdef Py_ssize_t at, begin
        if not total or not self.words:
            return 0
        for word in self.words.get(self.tokens[total - 1], ()):
            begin = total - (len(word) - 1)
            if begin < 0:
                continue
            for at in range(len(word) - 1):
                if self.tokens[begin + at] != <int64_t>word[at]:
                    break
            else:
                self.forbid(word[len(word) - 1])
        return 0

    cdef int forbid(self, int64_t token) except -1:
        cdef void *moved
        if self.count == self.found_room:
            moved = realloc(self.found, (2 * self.found_room + 16) * sizeof(int64_t))
            if moved == NULL:
                raise MemoryError
            self.found, self.found_room = <int64_t *>moved, 2 * self.found_room + 16
        self.found[self.count] = token
        self.count += 1
        return 0


cdef inline void _clear(int32_t *bits, Py_ssize_t words, int64_t token) noexcept:
    if 0 <= token < 32 * words:
        bits[token >> 5] &= ~<int32_t>(<unsigned int>1 << (token & 31))


cdef inline void _set(int32_t *bits, Py_ssize_t words, int64_t token) noexcept:
    if 0 <= token < 32 * words:
        bits[token >> 5] |= <int32_t>(<unsigned int>1 << (token & 31))
