"""What the class does is said in `penalties.pyi`."""

import numpy as np

from libc.stdlib cimport free, realloc

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef class Penalties:
    def __init__(self, params, Py_ssize_t prompt_length):
        self.repetition, self.presence = params.repetition_penalty, params.presence_penalty
        self.frequency, self.prompt_length = params.frequency_penalty, prompt_length
        self.biased = np.array(list(params.logit_bias), np.int64)
        self.biases = np.array(list(params.logit_bias.values()), np.float32)
        self.places = {}
        self.lists = self.repetition != 1 or self.presence != 0 or self.frequency != 0
        self.read = 0 if self.repetition != 1 else prompt_length  # the others are of the output

    def __dealloc__(self):
        free(self.occurred)

    def apply(self, list tokens, draft, float[:, ::1] logits):
        cdef Py_ssize_t row = 0, listed
        if self.lists:
            self.learn(tokens)
        listed = self.listed
        self.change(logits[0])
        for token in draft:
            row += 1
            if self.lists:
                self.add(token, True)
            self.change(logits[row])
        if self.lists:
            self.take_back(draft, listed)

    cdef int learn(self, list tokens) except -1:
        """List the tokens that came since the last call."""
        while self.read < len(tokens):
            self.add(tokens[self.read], self.read >= self.prompt_length)
            self.read += 1
        return 0

    cdef int add(self, token, bint in_output) except -1:
        cdef void *moved
        cdef object place = self.places.get(token)
        if place is None:
            if self.listed == self.room:
                moved = realloc(self.occurred, (2 * self.room + 16) * sizeof(Occurred))
                if moved == NULL:
                    raise MemoryError
                self.occurred, self.room = <Occurred *>moved, 2 * self.room + 16
            place = self.places[token] = self.listed
            self.occurred[self.listed].token = token
            self.occurred[self.listed].count = 0
            self.listed += 1
        self.occurred[<Py_ssize_t>place].count += in_output
        return 0

    cdef int take_back(self, draft, Py_ssize_t listed) except -1:
        """Take the tokens of a draft out of the output, before which so many were listed."""
        for token in draft:
            self.occurred[<Py_ssize_t>self.places[token]].count -= 1
        while self.listed > listed:
            self.listed -= 1
            del self.places[self.occurred[self.listed].token]
        return 0

    cdef int change(self, float[::1] logits) except -1:
        """The order and the rounding are those of the chain."""
        cdef Py_ssize_t at, size = logits.shape[0]
        cdef const Occurred *one
        cdef float logit, times
        for at in range(self.biased.shape[0]):
            if self.biased[at] < size:
                logits[self.biased[at]] += self.biases[at]
        for at in range(self.listed):
            one = &self.occurred[at]
            if not 0 <= one.token < size:
                continue
            logit = logits[one.token]
            if self.repetition != 1:
                logit = logit / self.repetition if logit > 0 else logit * self.repetition
            if one.count:
                if self.presence != 0:
                    logit = logit - self.presence
                if self.frequency != 0:
                    times = <float>one.count
                    times = times * <float>self.frequency
                    logit = logit - times
            logits[one.token] = logit
        return 0
