/* Kernels in several sets of vector instructions, of which one is chosen at import.

A file of kernels defines KERNELS, its own path, and includes this file, which includes it again
once for each set. There it finds

    NAMED(name)   the name of a function in this set
    WIDTH         how many 32-bit numbers a register holds: 4, 8 or 16
    TALL, TILE    how many rows of sums, of how many registers' width, the registers hold
    FUSED         whether mul_add rounds once
    floats, ints  vectors of WIDTH numbers: float and int32_t
    load, store, splat, mul_add, larger, smaller, mul_add_one

and defines functions that name no instructions: their vectors are GCC's and Clang's extension of C.
At its end it lists what it defined in a `static const struct ... NAMED(kernels)`, and SETS(kernels)
are those of all sets, from the one that every processor has to the best.

Nothing else contracts a product and a sum (-ffp-contract=off), so bits depend on what is written
here, not on the compiler. */

#ifndef MASKWRIGHT_INSTRUCTIONS_H
#define MASKWRIGHT_INSTRUCTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline, unused))
#define JOINED(name, set) name##_##set
#define JOINED_TO(name, set) JOINED(name, set)
#define NAMED(name) JOINED_TO(name, SET)

typedef float floats_4 __attribute__((vector_size(16)));
typedef int32_t ints_4 __attribute__((vector_size(16)));

/* The numbers of a vector that are counted off, of one and then of the other. */
#if defined(__clang__)
#define SHUFFLE_4(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
#define SHUFFLE_4(x, y, a, b, c, d) __builtin_shuffle(x, y, (ints_4){a, b, c, d})
#endif

/* The larger one of each two numbers, and that of y where one is none. */
INLINE floats_4 larger_4(floats_4 x, floats_4 y) {
#if defined(__x86_64__)
    return (floats_4)_mm_max_ps((__m128)x, (__m128)y);
#else
    const ints_4 chosen = x > y;
    return (floats_4)(((ints_4)x & chosen) | ((ints_4)y & ~chosen));
#endif
}

#if defined(__x86_64__)
#define SETS(kernels) {&kernels##_baseline, &kernels##_avx2, &kernels##_avx512}
#else
#define SETS(kernels) {&kernels##_baseline}
#endif

/* The number of the best set that the processor has and the system keeps the registers of. */
static inline int best_set(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d, kept, high;
    const unsigned first = bit_FMA | bit_AVX | bit_OSXSAVE;
    const unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return 0;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if ((kept & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2))
        return 0;
    return (kept & 0xe6) == 0xe6 && (b & wide) == wide ? 2 : 1;
#else
    return 0;
#endif
}

#endif

#if defined(SET) /* what kernels find, and the kernels themselves */

#define floats NAMED(floats)
#define ints NAMED(ints)
#define load NAMED(load)
#define store NAMED(store)
#define splat NAMED(splat)
#define mul_add NAMED(mul_add)
#define larger NAMED(larger)
#define smaller NAMED(smaller)
#define mul_add_one NAMED(mul_add_one)

typedef float floats __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));

INLINE floats load(const float *from) {
    floats read;
    memcpy(&read, from, sizeof read);
    return read;
}

INLINE void store(float *to, floats written) { memcpy(to, &written, sizeof written); }

INLINE floats splat(float number) { return number - (floats){0}; }

/* x * y + z */
INLINE floats mul_add(floats x, floats y, floats z) {
#if WIDTH == 16
    return (floats)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif WIDTH == 8
    return (floats)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif FUSED
    return (floats)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
#else
    return x * y + z;
#endif
}

/* The larger and the smaller one of each two numbers, and that of y where one is none. */
INLINE floats larger(floats x, floats y) {
#if WIDTH == 16
    return (floats)_mm512_max_ps((__m512)x, (__m512)y);
#elif WIDTH == 8
    return (floats)_mm256_max_ps((__m256)x, (__m256)y);
#else
    return larger_4(x, y);
#endif
}

INLINE floats smaller(floats x, floats y) {
#if WIDTH == 16
    return (floats)_mm512_min_ps((__m512)x, (__m512)y);
#elif WIDTH == 8
    return (floats)_mm256_min_ps((__m256)x, (__m256)y);
#elif defined(__x86_64__)
    return (floats)_mm_min_ps((__m128)x, (__m128)y);
#else
    const ints chosen = x < y;
    return (floats)(((ints)x & chosen) | ((ints)y & ~chosen));
#endif
}

INLINE float mul_add_one(float x, float y, float z) {
#if FUSED
    return __builtin_fmaf(x, y, z);
#else
    return x * y + z;
#endif
}

#include KERNELS

#undef floats
#undef ints
#undef load
#undef store
#undef splat
#undef mul_add
#undef larger
#undef smaller
#undef mul_add_one
#undef SET
#undef WIDTH
#undef TALL
#undef TILE
#undef FUSED

#elif defined(KERNELS) /* each set in turn */
#define SET baseline
#define WIDTH 4
#if defined(__aarch64__)
#define TALL 4
#define TILE 4
#define FUSED 1
#else
#define TALL 4
#define TILE 2
#define FUSED 0
#endif
#include "instructions.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define SET avx2
#define WIDTH 8
#define TALL 4
#define TILE 3
#define FUSED 1
#include "instructions.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")
#endif
#define SET avx512
#define WIDTH 16
#define TALL 8
#define TILE 3
#define FUSED 1
#include "instructions.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#endif
