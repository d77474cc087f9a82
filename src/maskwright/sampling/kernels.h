/* What a draw does for many tokens at once: see draw.pyx. All is done with integers, or with single
sums, products and quotients, so there is one result in all sets of instructions. */

#ifndef KERNELS
#define KERNELS "sampling/kernels.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Tokens that have one upper bound: two words of the mask, 16 counters. */
#define BLOCK 64
#define INFINITE 0x7f800000
#define MAGNITUDE 0x7fffffff
/* The key of -inf: of tokens that are not allowed, and of blocks without an allowed token. */
#define NOTHING ((int32_t)0x807fffff)

struct kernels {
    int (*find_peaks)(const int32_t *, ptrdiff_t, const int32_t *, int32_t *);
    void (*philox)(uint64_t, const uint32_t *, ptrdiff_t, uint32_t *);
    int (*any_at_most)(const uint32_t *, uint32_t);
    void (*scale)(const float *, ptrdiff_t, const int32_t *, float, float, float *);
    void (*exponentials)(const float *, ptrdiff_t, double, double *);
};

/* An int32 in the order of the float32 numbers with these bits, except NaN; its own inverse. */
static inline int32_t key_of(int32_t bits) { return bits ^ (bits >> 31 & MAGNITUDE); }

static inline float number_of(int32_t key) {
    const int32_t bits = key_of(key);
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

#define FOUR(i) 1u << i, 2u << i, 4u << i, 8u << i
static const uint32_t BITS[32] = {
    FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)};
#undef FOUR

#include "instructions.h"

static const struct kernels *const KERNEL_SETS[] = SETS(kernels);

#else

/* The highest key and the largest magnitude of the allowed ones of up to 32 tokens. */
INLINE void NAMED(find_peak)(
    const int32_t *bits, const int count, uint32_t allowed, int32_t *peak, int32_t *largest) {
    int32_t most = *peak, far = *largest;
    for (int i = 0; i < count; i++) {
        const int32_t on = -(int32_t)((allowed & BITS[i]) != 0);
        const int32_t magnitude = bits[i] & MAGNITUDE & on;
        const int32_t key = (key_of(bits[i]) & on) | (NOTHING & ~on);
        far = magnitude > far ? magnitude : far;
        most = key > most ? key : most;
    }
    *peak = most;
    *largest = far;
}

/* Writes the highest key among the allowed ones of `size` tokens to `peaks`, block by block. Returns
whether no allowed logit is NaN. */
static int NAMED(find_peaks)(
    const int32_t *bits, ptrdiff_t size, const int32_t *words, int32_t *peaks) {
    int32_t largest = 0;
    for (ptrdiff_t begin = 0; begin < size; begin += BLOCK) {
        int32_t peak = NOTHING;
        for (ptrdiff_t at = begin; at < begin + BLOCK && at < size; at += 32) {
            const uint32_t allowed = words[at / 32];
            if (allowed && at + 32 <= size)
                NAMED(find_peak)(bits + at, 32, allowed, &peak, &largest);
            else if (allowed)
                NAMED(find_peak)(bits + at, (int)(size - at), allowed, &peak, &largest);
        }
        peaks[begin / BLOCK] = peak;
    }
    return largest <= INFINITE;
}

/* Words of 32 bits in lanes of 64, whose upper halves mean nothing. */
typedef uint64_t NAMED(lanes) __attribute__((vector_size(4 * WIDTH)));
typedef uint32_t NAMED(words) __attribute__((vector_size(2 * WIDTH)));

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

/* Philox4x32-10 of `count` counters that follow each other in their first word: word `j` of counter
`i` goes to out[j * count + i]. */
static void NAMED(philox)(
    uint64_t key, const uint32_t *counter, ptrdiff_t count, uint32_t *out) {
    enum { VECTORS = 2, HALF = WIDTH / 2 };
    for (ptrdiff_t at = 0; at < count; at += VECTORS * HALF) {
        uint32_t key_0 = (uint32_t)key, key_1 = (uint32_t)(key >> 32);
        NAMED(lanes) state[4][VECTORS];
        for (int v = 0; v < VECTORS; v++)
            for (int j = 0; j < 4; j++)
                for (int i = 0; i < HALF; i++)
                    state[j][v][i] = counter[j] + (j ? 0 : (uint32_t)(at + v * HALF + i));
        for (int round = 0; round < 10; round++) {
            for (int v = 0; v < VECTORS; v++) {
                const NAMED(lanes) one = NAMED(product)(state[0][v], 0xD2511F53);
                const NAMED(lanes) two = NAMED(product)(state[2][v], 0xCD9E8D57);
                state[0][v] = two >> 32 ^ state[1][v] ^ key_0;
                state[1][v] = two;
                state[2][v] = one >> 32 ^ state[3][v] ^ key_1;
                state[3][v] = one;
            }
            key_0 += 0x9E3779B9;
            key_1 += 0xBB67AE85;
        }
        for (int v = 0; v < VECTORS; v++) {
            const ptrdiff_t left = count - at - v * HALF, some = left < HALF ? left : HALF;
            for (int j = 0; j < 4 && some > 0; j++) {
                const NAMED(words) done = __builtin_convertvector(state[j][v], NAMED(words));
                memcpy(out + j * count + at + v * HALF, &done,
                       some == HALF ? sizeof done : some * sizeof(uint32_t));
            }
        }
    }
}

static int NAMED(any_at_most)(const uint32_t *words, uint32_t limit) {
    int found = 0;
    for (int i = 0; i < BLOCK; i++) found += words[i] <= limit;
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

/* Writes e to the power of `count` numbers, of which none is above `highest`, less that, by
x = k ln 2 + r and a Taylor polynomial of r, |r| <= ln 2 / 2, with a relative error below 2^-50.
Below e^-700 it writes that, and for NaN. A branch in the loop would keep compilers from using
vectors. */
static void NAMED(exponentials)(
    const float *restrict numbers, ptrdiff_t count, double highest, double *restrict out) {
    /* Adding it leaves the nearest integer in the last bits. */
    const double magic = 6755399441055744.0;
    for (ptrdiff_t i = 0; i < count; i++) {
        const double below = numbers[i] - highest, x = below > -700.0 ? below : -700.0;
        const double shifted = x * 1.4426950408889634074 + magic, k = shifted - magic;
        const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
        double sum = 1.0 / 6227020800;
        sum = sum * r + 1.0 / 479001600;
        sum = sum * r + 1.0 / 39916800;
        sum = sum * r + 1.0 / 3628800;
        sum = sum * r + 1.0 / 362880;
        sum = sum * r + 1.0 / 40320;
        sum = sum * r + 1.0 / 5040;
        sum = sum * r + 1.0 / 720;
        sum = sum * r + 1.0 / 120;
        sum = sum * r + 1.0 / 24;
        sum = sum * r + 1.0 / 6;
        sum = sum * r + 0.5;
        sum = sum * r + 1.0;
        sum = sum * r + 1.0;
        uint64_t power, bits;
        memcpy(&power, &shifted, sizeof power);
        memcpy(&bits, &sum, sizeof bits);
        bits += power << 52;
        memcpy(&out[i], &bits, sizeof bits);
    }
}

static const struct kernels NAMED(kernels) = {
    NAMED(find_peaks), NAMED(philox), NAMED(any_at_most), NAMED(scale), NAMED(exponentials),
};

#endif
