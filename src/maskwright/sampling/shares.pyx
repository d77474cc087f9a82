"""What is measured is said in `shares.pyi`."""

from typing import NamedTuple

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t, uint32_t

from maskwright.instructions import NUMBER
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.sampling.kernels cimport KERNEL_SETS, kernels
from maskwright.vocab.bits cimport ones

require_built(__name__, BUILT_FROM)

cdef const kernels *chosen = KERNEL_SETS[<Py_ssize_t>NUMBER]

cdef enum:
    MOST = 20


cdef struct Sums:
    double every, allowed


class Shares(NamedTuple):
    share: float
    kept: float
    allowed: int
    likeliest: list


def measure(
    const float[::1] logits, const int32_t[::1] words, Py_ssize_t token, Py_ssize_t most, *,
    bint only_allowed,
):
    cdef Py_ssize_t size = logits.shape[0], begin = 0, at, allowed = 0, found = 0
    cdef Py_ssize_t likeliest[MOST]
    cdef float tops[2]
    cdef float highest = -INFINITY, highest_allowed = -INFINITY
    cdef uint32_t word
    cdef double whole, kept
    cdef Sums sums
    if not 0 <= token < size or not 0 <= most <= MOST:
        raise ValueError(f"token {token} of {size}, or {most} likeliest tokens")
    with nogil:
        while begin < size:
            word = _word(words, begin // 32, size)
            chosen.highest(&logits[begin], min(<Py_ssize_t>32, size - begin), word, tops)
            allowed += ones(word)
            highest, highest_allowed = max(highest, tops[0]), max(highest_allowed, tops[1])
            if most and (found < most or tops[only_allowed] > logits[likeliest[found - 1]]):
                for at in range(begin, min(begin + 32, size)):
                    if not only_allowed or (word >> (at - begin)) & 1:
                        found = _place(logits, at, most, likeliest, found)
            begin += 32
        sums = _sums(logits, words, highest)
        whole = highest + log(sums.every)
        if highest_allowed != highest:
            sums = _sums(logits, words, highest_allowed)
        kept = highest_allowed + log(sums.allowed) - whole if allowed else -INFINITY
    return Shares(
        logits[token] - whole,
        kept,
        allowed,
        [
            (likeliest[at], logits[likeliest[at]] - whole, _allows(words, likeliest[at]))
            for at in range(found)
        ],
    )


cdef Py_ssize_t _place(
    const float[::1] logits, Py_ssize_t token, Py_ssize_t most, Py_ssize_t *likeliest,
    Py_ssize_t found,
) noexcept nogil:
    """Place a token among the `found` likeliest so far, which are all before it; returns how many
    there are now."""
    cdef Py_ssize_t at = found
    cdef float logit = logits[token]
    if found == most:
        if not most or not logit > logits[likeliest[found - 1]]:
            return found
        at = found - 1
    elif logit != logit:
        return found
    while at and logit > logits[likeliest[at - 1]]:
        if at < most:
            likeliest[at] = likeliest[at - 1]
        at -= 1
    likeliest[at] = token
    return min(found + 1, most)


cdef Sums _sums(const float[::1] logits, const int32_t[::1] words, double highest) noexcept nogil:
    """The sums of the exponentials of all logits, and of the allowed ones, less the highest."""
    cdef Py_ssize_t covered = min(logits.shape[0], 32 * words.shape[0])
    cdef double found[2]
    cdef Sums sums
    sums.every = sums.allowed = 0
    if covered:
        chosen.masses(&logits[0], covered, &words[0], highest, found)
        sums.every, sums.allowed = found[0], found[1]
    if covered < logits.shape[0]:
        chosen.masses(&logits[covered], logits.shape[0] - covered, NULL, highest, found)
        sums.every += found[0]
    return sums


cdef inline uint32_t _word(
    const int32_t[::1] words, Py_ssize_t number, Py_ssize_t size
) noexcept nogil:
    """A word of the mask, with no bit beyond `size` tokens."""
    if number >= words.shape[0]:
        return 0
    if size - 32 * number >= 32:
        return <uint32_t>words[number]
    return <uint32_t>words[number] & ((<uint32_t>1 << (size - 32 * number)) - 1)


cdef inline bint _allows(const int32_t[::1] words, Py_ssize_t token) noexcept nogil:
    return (token >> 5) < words.shape[0] and (<uint32_t>words[token >> 5] >> (token & 31)) & 1
