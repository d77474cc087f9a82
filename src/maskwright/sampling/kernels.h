/* What a draw does for many tokens at once: see draw.pyx. All is done with integers, or with single
sums, products and quotients, so there is one result in all sets of instructions. */

#ifndef KERNELS
#define KERNELS "sampling/kernels.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Tokens that have one upper bound: two words of the mask. */
#define BLOCK 64
/* Counters whose random words they have, four tokens each. */
#define COUNTERS (BLOCK / 4)

struct kernels {
    int (*find_peaks)(const float *, ptrdiff_t, const int32_t *, float *);
    void (*philox)(const uint64_t *, const uint32_t *, uint32_t *);
    uint64_t (*at_most)(const uint32_t *, uint32_t);
    void (*scale)(const float *, ptrdiff_t, const int32_t *, float, float, float *);
    void (*exponentials)(const float *, ptrdiff_t, double, double *);
    void (*highest)(const float *, ptrdiff_t, uint32_t, float *);
    void (*masses)(const float *, ptrdiff_t, const int32_t *, double, double *);
};

/* The two keys of each round of Philox under a seed: they are the same for all blocks of a row. */
#define ROUNDS 10
static inline void keys_of(uint64_t seed, uint64_t *keys) {
    for (int round = 0; round < ROUNDS; round++) {
        keys[2 * round] = (uint32_t)seed + round * 0x9E3779B9u;
        keys[2 * round + 1] = (uint32_t)(seed >> 32) + round * 0xBB67AE85u;
    }
}

#define FOUR(i) 1u << i, 2u << i, 4u << i, 8u << i
static const uint32_t BITS[32] = {
    FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)};
#undef FOUR

#include "instructions.h"

static const struct kernels *const KERNEL_SETS[] = SETS(kernels);

#else

/* The highest number of a vector. */
INLINE float NAMED(highest_of)(floats numbers) {
    floats_4 parts[WIDTH / 4];
    memcpy(parts, &numbers, sizeof numbers);
    for (int left = WIDTH / 8; left; left /= 2)
        for (int i = 0; i < left; i++) parts[i] = larger_4(parts[i], parts[i + left]);
    parts[0] = larger_4(parts[0], SHUFFLE_4(parts[0], parts[0], 2, 3, 0, 1));
    return larger_4(parts[0], SHUFFLE_4(parts[0], parts[0], 1, 0, 3, 2))[0];
}

/* Writes the highest allowed one of `size` logits to `peaks`, block by block: -inf where none is
allowed. Returns whether no allowed logit is NaN. */
static int NAMED(find_peaks)(
    const float *logits, ptrdiff_t size, const int32_t *words, float *peaks) {
    const floats none = splat(-INFINITY);
    ints bit, unordered = {0};
    int found = 0;
    for (int i = 0; i < WIDTH; i++) bit[i] = 1 << i;
    for (ptrdiff_t begin = 0; begin < size; begin += BLOCK, peaks++) {
        const ptrdiff_t end = begin + BLOCK < size ? begin + BLOCK : size;
        floats peak = none;
        *peaks = -INFINITY;
        if (!(words[begin / 32] | words[(end - 1) / 32])) continue;
        for (ptrdiff_t at = begin; at < end; at += WIDTH) {
            const int32_t word = words[at / 32];
            floats part = none;
            if (at + WIDTH <= end)
                part = load(logits + at);
            else
                memcpy(&part, logits + at, (size_t)(end - at) * sizeof *logits);
            if (word != -1) {
                const ints on = (bit & (int32_t)((uint32_t)word >> at % 32)) != 0;
                part = (floats)(((ints)part & on) | ((ints)none & ~on));
            }
            unordered |= part != part;
            peak = larger(part, peak);
        }
        *peaks = NAMED(highest_of)(peak);
    }
    for (int i = 0; i < WIDTH; i++) found |= unordered[i];
    return !found;
}

/* Words of 32 bits in lanes of 64, whose upper halves mean nothing. */
typedef uint64_t NAMED(lanes) __attribute__((vector_size(4 * WIDTH)));

INLINE NAMED(lanes) NAMED(product)(NAMED(lanes) x, uint32_t factor) {
#if WIDTH == 16
    return (NAMED(lanes))_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(factor));
#elif WIDTH == 8
    return (NAMED(lanes))_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(factor));
#elif defined(__x86_64__)
    return (NAMED(lanes))_mm_mul_epu32((__m128i)x, _mm_set1_epi64x(factor));
#else
    return (x & 0xFFFFFFFF) * factor;
#endif
}

/* Philox4x32-10, under the keys of its rounds, of COUNTERS counters that follow each other in their first word: word `j` of counter
`i` goes to out[j * COUNTERS + i]. Even counters and odd ones have a vector each, so that a shift
and an or put their words side by side. */
static void NAMED(philox)(const uint64_t *keys, const uint32_t *counter, uint32_t *out) {
    NAMED(lanes) number;
    for (int i = 0; i < WIDTH / 2; i++) number[i] = counter[0] + 2 * (uint32_t)i;
    for (int at = 0; at < COUNTERS; at += WIDTH) {
        NAMED(lanes) state[4][2];
        for (int odd = 0; odd < 2; odd++) {
            state[0][odd] = number + (uint64_t)(at + odd);
            for (int j = 1; j < 4; j++) state[j][odd] = (NAMED(lanes)){0} + counter[j];
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (int odd = 0; odd < 2; odd++) {
                const NAMED(lanes) one = NAMED(product)(state[0][odd], 0xD2511F53);
                const NAMED(lanes) two = NAMED(product)(state[2][odd], 0xCD9E8D57);
                state[0][odd] = two >> 32 ^ state[1][odd] ^ keys[2 * round];
                state[1][odd] = two;
                state[2][odd] = one >> 32 ^ state[3][odd] ^ keys[2 * round + 1];
                state[3][odd] = one;
            }
        }
        for (int j = 0; j < 4; j++) {
            const NAMED(lanes) both = (state[j][0] & 0xFFFFFFFF) | state[j][1] << 32;
            memcpy(out + j * COUNTERS + at, &both, sizeof both);
        }
    }
}

/* Which of BLOCK words are at most `limit`, as bits. */
static uint64_t NAMED(at_most)(const uint32_t *words, uint32_t limit) {
    uint64_t found = 0;
    for (int at = 0; at < BLOCK; at += WIDTH) {
#if WIDTH == 16
        const __m512i part = _mm512_loadu_si512(words + at);
        found |= (uint64_t)_mm512_cmple_epu32_mask(part, _mm512_set1_epi32((int)limit)) << at;
#elif WIDTH == 8
        const __m256i most = _mm256_set1_epi32((int)limit);
        const __m256i part = _mm256_loadu_si256((const __m256i *)(words + at));
        const __m256i on = _mm256_cmpeq_epi32(_mm256_max_epu32(part, most), most);
        found |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(on)) << at;
#else
        for (int i = at; i < at + WIDTH; i++) found |= (uint64_t)(words[i] <= limit) << i;
#endif
    }
    return found;
}

/* Writes what `size` logits are after the highest was moved to 0 and they were divided by the
temperature; -inf for tokens that are not allowed. */
static void NAMED(scale)(
    const float *logits, ptrdiff_t size, const int32_t *words, float highest, float temperature,
    float *out) {
    for (ptrdiff_t begin = 0; begin < size; begin += 32) {
        const uint32_t allowed = words[begin / 32];
        const ptrdiff_t count = size - begin < 32 ? size - begin : 32;
        for (ptrdiff_t i = 0; i < count; i++) {
            const float scaled = (logits[begin + i] - highest) / temperature;
            out[begin + i] = allowed & BITS[i] ? scaled : -INFINITY;
        }
    }
}

/* Writes the highest of up to 32 numbers, and of those that a word of a mask allows; -inf where there
is none, and NaN is no number. */
static void NAMED(highest)(
    const float *numbers, ptrdiff_t count, uint32_t word, float *out) {
    const floats none = splat(-INFINITY);
    floats every = none, allowed = none, part;
    ints bit;
    for (int i = 0; i < WIDTH; i++) bit[i] = 1 << i;
    for (ptrdiff_t at = 0; at < count; at += WIDTH) {
        part = none;
        if (count - at >= WIDTH)
            part = load(numbers + at);
        else
            memcpy(&part, numbers + at, (size_t)(count - at) * sizeof *numbers);
        const ints on = (bit & (int32_t)(word >> at)) != 0;
        every = larger(part, every);
        allowed = larger((floats)(((ints)part & on) | ((ints)none & ~on)), allowed);
    }
    out[0] = NAMED(highest_of)(every);
    out[1] = NAMED(highest_of)(allowed);
}

typedef double NAMED(doubles) __attribute__((vector_size(4 * WIDTH)));
typedef int64_t NAMED(longs) __attribute__((vector_size(4 * WIDTH)));
typedef float NAMED(half) __attribute__((vector_size(2 * WIDTH)));

/* e to the power of numbers, by x = k ln 2 + r and a Taylor polynomial of r, |r| <= ln 2 / 2, with
a relative error below 2^-50. Below e^-700 it is that, and for NaN. */
INLINE NAMED(doubles) NAMED(exponential)(NAMED(doubles) x) {
    /* Adding it leaves the nearest integer in the last bits. */
    const double magic = 6755399441055744.0;
    const NAMED(doubles) least = (NAMED(doubles)){0} - 700.0;
    const NAMED(longs) over = x > least;
    x = (NAMED(doubles))(((NAMED(longs))x & over) | ((NAMED(longs))least & ~over));
    const NAMED(doubles) shifted = x * 1.4426950408889634074 + magic, k = shifted - magic;
    const NAMED(doubles) r =
        (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    /* In pairs, since each sum would wait for the one before otherwise. */
    const NAMED(doubles) r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const NAMED(doubles) low = (r + 1.0) + (r * (1.0 / 6) + 0.5) * r2;
    const NAMED(doubles) middle =
        (r * (1.0 / 120) + 1.0 / 24) + (r * (1.0 / 5040) + 1.0 / 720) * r2;
    const NAMED(doubles) high =
        (r * (1.0 / 362880) + 1.0 / 40320) + (r * (1.0 / 39916800) + 1.0 / 3628800) * r2 +
        (r * (1.0 / 6227020800) + 1.0 / 479001600) * r4;
    const NAMED(doubles) sum = low + middle * r4 + high * r8;
    return (NAMED(doubles))((NAMED(longs))sum + ((NAMED(longs))shifted << 52));
}

/* Writes e to the power of `count` numbers, of which none is above `highest`, less that. */
static void NAMED(exponentials)(
    const float *numbers, ptrdiff_t count, double highest, double *out) {
    enum { LANES = WIDTH / 2 };
    for (ptrdiff_t at = 0; at < count; at += LANES) {
        const size_t some = count - at < LANES ? (size_t)(count - at) : LANES;
        NAMED(half) part = {0};
        if (some == LANES)
            memcpy(&part, numbers + at, sizeof part);
        else
            memcpy(&part, numbers + at, some * sizeof *numbers);
        const NAMED(doubles) done =
            NAMED(exponential)(__builtin_convertvector(part, NAMED(doubles)) - highest);
        if (some == LANES)
            memcpy(out + at, &done, sizeof done);
        else
            memcpy(out + at, &done, some * sizeof *out);
    }
}

/* Writes two sums of e to the power of `count` numbers, of which none is above `highest`, less that:
of all, and of those that the mask `words` allows; NULL allows none. The order of the sums is that of
eight lanes in all sets of instructions. */
static void NAMED(masses)(
    const float *numbers, ptrdiff_t count, const int32_t *words, double highest, double *out) {
    enum { LANES = WIDTH / 2, ALL = 8, VECTORS = ALL / LANES };
    NAMED(doubles) every[VECTORS] = {0}, allowed[VECTORS] = {0};
    NAMED(longs) bit;
    double lanes[ALL];
    for (int i = 0; i < LANES; i++) bit[i] = 1 << i;
    for (ptrdiff_t at = 0; at < count; at += ALL) {
        const uint32_t word = words ? (uint32_t)words[at / 32] >> at % 32 : 0;
        NAMED(half) parts[VECTORS];
        if (count - at >= ALL)
            memcpy(parts, numbers + at, sizeof parts);
        else { /* what e^-700 adds to the others is nothing */
            for (int v = 0; v < VECTORS; v++) parts[v] = (NAMED(half)){0} - INFINITY;
            memcpy(parts, numbers + at, (size_t)(count - at) * sizeof *numbers);
        }
        for (int v = 0; v < VECTORS; v++) {
            const NAMED(doubles) x =
                NAMED(exponential)(__builtin_convertvector(parts[v], NAMED(doubles)) - highest);
            const NAMED(longs) on = ((bit << v * LANES) & (int64_t)word) != 0;
            every[v] += x;
            allowed[v] += (NAMED(doubles))((NAMED(longs))x & on);
        }
    }
    out[0] = out[1] = 0;
    memcpy(lanes, every, sizeof lanes);
    for (int i = 0; i < ALL; i++) out[0] += lanes[i];
    memcpy(lanes, allowed, sizeof lanes);
    for (int i = 0; i < ALL; i++) out[1] += lanes[i];
}

static const struct kernels NAMED(kernels) = {
    NAMED(find_peaks), NAMED(philox), NAMED(at_most), NAMED(scale),
    NAMED(exponentials), NAMED(highest), NAMED(masses),
};

#endif
