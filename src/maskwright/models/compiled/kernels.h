/* What the layers of a small model compute, row by row: see layers.pyx, which loops over rows, heads
and blocks. Every order of sums stands here, and is the same in all sets of instructions: a product
adds one number after another, other sums are PARTIAL sums side by side, which are then folded in
half until one number is left. */

#ifndef KERNELS
#define KERNELS "models/compiled/kernels.h"

#include <stddef.h>

#define ROWS 4
#define PARTIAL 16
/* Numbers of a line of the cache. */
#define LINE 16

/* Heads of queries, how many of them share keys and values, and the numbers of each. A row of keys
or values has `kv_heads` times `width` numbers. */
struct heads {
    ptrdiff_t count, group, kv_heads, width;
};

/* Numbers that are read after the present ones, and are fetched meanwhile: processors foresee no
more than the rest of a page, and the memory of a step's weights and blocks is far away. */
struct ahead {
    const float *begin;
    ptrdiff_t count;
};

struct kernels {
    /* Columns of a panel of packed weights. */
    int columns;
    void (*multiply)(
        const float *, ptrdiff_t, ptrdiff_t, const float *, ptrdiff_t, const float *, float *,
        const float *);
    void (*add_and_norm)(float *, const float *, const float *, ptrdiff_t, float, float *);
    void (*norm)(const float *, const float *, ptrdiff_t, float, float *);
    void (*silu_multiply)(const float *, const float *, ptrdiff_t, float *);
    void (*rotate)(float *, ptrdiff_t, const float *, const float *);
    void (*score)(
        struct heads, const float *, const float *, ptrdiff_t, float *, ptrdiff_t, struct ahead,
        struct ahead);
    float (*soften)(float *, ptrdiff_t, ptrdiff_t, float);
    void (*mix)(
        struct heads, const float *, ptrdiff_t, const float *, ptrdiff_t, float *, struct ahead);
    void (*divide)(float *, ptrdiff_t, float);
    void (*exp)(const float *, ptrdiff_t, float *);
};

#include "instructions.h"

static const struct kernels *const KERNEL_SETS[] = SETS(kernels);

#else

#define REGISTERS (PARTIAL / WIDTH)
#define COLUMNS (TILE * WIDTH)

/* Fetches `count` of the numbers ahead, and returns the others. */
INLINE struct ahead NAMED(fetch)(struct ahead next, ptrdiff_t count) {
    if (count > next.count) count = next.count;
    for (ptrdiff_t at = 0; at < count; at += LINE) __builtin_prefetch(next.begin + at, 0, 2);
    return (struct ahead){next.begin + count, next.count - count};
}

/* ---- Products ---- */

/* out[r, c] = the sum of x[r, k] * panel[k, c] over k in order, for `rows` times COLUMNS. Fetches
`share` of the numbers ahead for each k. */
INLINE void NAMED(multiply_tile)(
    const int rows, const float *x, ptrdiff_t inputs, const float *panel, float *out,
    ptrdiff_t stride, const float *ahead, ptrdiff_t share) {
    floats sums[TALL][TILE];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < TILE; v++) sums[r][v] = splat(0);
    ptrdiff_t k = 0;
    do { /* there is an input: the sums then need no place in memory */
        floats weights[TILE];
        for (int v = 0; v < TILE; v++) weights[v] = load(panel + v * WIDTH);
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < TILE; v++)
                sums[r][v] = mul_add(splat(x[r * inputs + k]), weights[v], sums[r][v]);
        for (ptrdiff_t at = 0; at < share; at += LINE) __builtin_prefetch(ahead + at, 0, 2);
        ahead += share;
        panel += COLUMNS;
    } while (++k < inputs);
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < TILE; v++) store(out + r * stride + v * WIDTH, sums[r][v]);
}

/* The product of a panel and the next rows, of `rows` that are left: returns their number. */
static ptrdiff_t NAMED(multiply_rows)(
    ptrdiff_t rows, const float *x, ptrdiff_t inputs, const float *panel, float *out,
    ptrdiff_t stride, const float *ahead, ptrdiff_t share) {
    if (rows < TALL) {
        NAMED(multiply_tile)(ROWS, x, inputs, panel, out, stride, ahead, share);
        return ROWS;
    }
    NAMED(multiply_tile)(TALL, x, inputs, panel, out, stride, ahead, share);
    return TALL;
}

/* out = x @ weight.T + bias for ROWS-fold `rows`, with `bias` NULL or [outputs], and the weight in
panels [inputs, COLUMNS]. The tiles of rows share the work of fetching the next panel, at last the
one that `then` begins with, unless it is NULL. A single tile does nothing but read panels. */
static void NAMED(multiply)(
    const float *x, ptrdiff_t rows, ptrdiff_t inputs, const float *packed, ptrdiff_t outputs,
    const float *bias, float *out, const float *then) {
    const ptrdiff_t tiles = rows / TALL + rows % TALL / ROWS, most = (COLUMNS + tiles - 1) / tiles;
    for (ptrdiff_t column = 0; column < outputs; column += COLUMNS, packed += inputs * COLUMNS) {
        const ptrdiff_t wide = outputs - column;
        const float *ahead = wide > COLUMNS ? packed + inputs * COLUMNS : then;
        const ptrdiff_t share = ahead && tiles > 1 ? most : 0;
        for (ptrdiff_t row = 0, done; row < rows; row += done, ahead += inputs * share) {
            const float *mine = x + row * inputs;
            float *home = out + row * outputs + column, edge[TALL * COLUMNS];
            if (wide >= COLUMNS) {
                done = NAMED(multiply_rows)(
                    rows - row, mine, inputs, packed, home, outputs, ahead, share);
            } else {
                done = NAMED(multiply_rows)(
                    rows - row, mine, inputs, packed, edge, COLUMNS, ahead, share);
                for (int r = 0; r < done; r++)
                    memcpy(home + r * outputs, edge + r * COLUMNS, wide * sizeof(float));
            }
        }
    }
    if (bias)
        for (ptrdiff_t row = 0; row < rows; row++)
            for (ptrdiff_t c = 0; c < outputs; c++) out[row * outputs + c] += bias[c];
}

/* ---- Norm, activation, rope ---- */

/* The root-mean-square norm of a row, scaled by `weight`; `out` may be the row itself. */
static void NAMED(norm)(
    const float *row, const float *weight, ptrdiff_t width, float eps, float *out) {
    floats running[2 * REGISTERS] = {{0}};
    float sums[2 * PARTIAL];
    ptrdiff_t d = 0;
    for (; d + 2 * PARTIAL <= width; d += 2 * PARTIAL)
        for (int v = 0; v < 2 * REGISTERS; v++) {
            const floats numbers = load(row + d + v * WIDTH);
            running[v] = mul_add(numbers, numbers, running[v]);
        }
    for (int v = 0; v < 2 * REGISTERS; v++) store(sums + v * WIDTH, running[v]);
    for (int i = 0; i < 8; i++) sums[i] = sums[i] + sums[8 + i] + sums[16 + i] + sums[24 + i];
    for (int half = 4; half; half /= 2)
        for (int i = 0; i < half; i++) sums[i] += sums[half + i];
    float squares = sums[0];
    for (; d < width; d++) squares = mul_add_one(row[d], row[d], squares);
    const float root = __builtin_sqrtf(squares / (float)width + eps);
    for (d = 0; d + WIDTH <= width; d += WIDTH)
        store(out + d, load(row + d) * load(weight + d) / splat(root));
    for (; d < width; d++) out[d] = row[d] * weight[d] / root;
}

static void NAMED(add_and_norm)(
    float *hidden, const float *update, const float *weight, ptrdiff_t width, float eps,
    float *out) {
    for (ptrdiff_t d = 0; d < width; d++) hidden[d] += update[d];
    NAMED(norm)(hidden, weight, width, eps, out);
}

/* e to the power of x with an error of at most two units in the last place; 0 for x below -87 and
for what is no number, and the value at 88 above. */
INLINE floats NAMED(exp_of)(floats x) {
    const floats least = splat(-87.0f);
    const floats bounded = smaller(larger(x, least), splat(88.0f));
    const floats shifted = bounded * 1.4426950408889634f + 0.5f;
    ints twos = __builtin_convertvector(shifted, ints);
    twos += __builtin_convertvector(twos, floats) > shifted; /* so that it is rounded down */
    const floats whole = __builtin_convertvector(twos, floats);
    const floats rest = bounded - whole * 0.693359375f - whole * -2.12194440e-4f;
    floats series = 1.9875691500e-4f * rest + 1.3981999507e-3f;
    series = series * rest + 8.3334519073e-3f;
    series = series * rest + 4.1665795894e-2f;
    series = series * rest + 1.6666665459e-1f;
    series = series * rest + 0.5f;
    const floats value = (series * rest * rest + rest + 1.0f) * (floats)((twos + 127) << 23);
    return (floats)((ints)value & (x >= least));
}

/* Up to WIDTH numbers, and zeros after them. */
INLINE floats NAMED(load_some)(const float *from, ptrdiff_t count) {
    floats read = {0};
    memcpy(&read, from, count * sizeof(float));
    return read;
}

static void NAMED(exp)(const float *x, ptrdiff_t count, float *out) {
    for (ptrdiff_t d = 0; d < count; d += WIDTH) {
        const ptrdiff_t some = count - d < WIDTH ? count - d : WIDTH;
        const floats value = NAMED(exp_of)(NAMED(load_some)(x + d, some));
        memcpy(out + d, &value, some * sizeof(float));
    }
}

INLINE floats NAMED(silu_of)(floats gate, floats up) {
    return gate / (1.0f + NAMED(exp_of)(-gate)) * up;
}

static void NAMED(silu_multiply)(
    const float *gate, const float *up, ptrdiff_t width, float *out) {
    ptrdiff_t d = 0;
    for (; d + WIDTH <= width; d += WIDTH)
        store(out + d, NAMED(silu_of)(load(gate + d), load(up + d)));
    if (d < width) {
        const ptrdiff_t some = width - d;
        const floats last = NAMED(silu_of)(
            NAMED(load_some)(gate + d, some), NAMED(load_some)(up + d, some));
        memcpy(out + d, &last, some * sizeof(float));
    }
}

/* Half-split rope of one head, `width` numbers, the first half of `sin` negated. */
static void NAMED(rotate)(float *head, ptrdiff_t width, const float *cos, const float *sin) {
    const ptrdiff_t half = width / 2;
    float *upper = head + half;
    for (ptrdiff_t d = 0; d < half; d++) {
        const float low = head[d], high = upper[d];
        head[d] = low * cos[d] + high * sin[d];
        upper[d] = high * cos[half + d] + low * sin[half + d];
    }
}

/* ---- Attention ---- */

/* The sums of the numbers of four vectors, each folded in half. Halves of different vectors share
registers, which changes no sum. */
INLINE floats_4 NAMED(fold)(floats a, floats b, floats c, floats d) {
#if WIDTH == 16
    const __m512 ab = _mm512_shuffle_f32x4((__m512)a, (__m512)b, 0x44) +
                      _mm512_shuffle_f32x4((__m512)a, (__m512)b, 0xee);
    const __m512 cd = _mm512_shuffle_f32x4((__m512)c, (__m512)d, 0x44) +
                      _mm512_shuffle_f32x4((__m512)c, (__m512)d, 0xee);
    const __m512 quarters =
        _mm512_shuffle_f32x4(ab, cd, 0x88) + _mm512_shuffle_f32x4(ab, cd, 0xdd);
    const __m512 halves = quarters + _mm512_permute_ps(quarters, 0x4e);
    const __m512 sums = halves + _mm512_permute_ps(halves, 0xb1);
    return (floats_4)_mm512_castps512_ps128(_mm512_maskz_compress_ps(0x1111, sums));
#else
#if WIDTH == 8
#define HALVES(x) \
    (floats_4)(_mm256_castps256_ps128((__m256)(x)) + _mm256_extractf128_ps((__m256)(x), 1))
    const floats_4 a4 = HALVES(a), b4 = HALVES(b), c4 = HALVES(c), d4 = HALVES(d);
#undef HALVES
#else
    const floats_4 a4 = a, b4 = b, c4 = c, d4 = d;
#endif
    const floats_4 ab = SHUFFLE_4(a4, b4, 0, 1, 4, 5) + SHUFFLE_4(a4, b4, 2, 3, 6, 7);
    const floats_4 cd = SHUFFLE_4(c4, d4, 0, 1, 4, 5) + SHUFFLE_4(c4, d4, 2, 3, 6, 7);
    return SHUFFLE_4(ab, cd, 0, 2, 4, 6) + SHUFFLE_4(ab, cd, 1, 3, 5, 7);
#endif
}

/* Folds the registers of ROWS sums in half until one number of each is left. */
INLINE floats_4 NAMED(fold_all)(const int registers, floats sums[ROWS][REGISTERS]) {
    for (int r = 0; r < ROWS; r++)
        for (int half = registers / 2; half; half /= 2)
            for (int v = 0; v < half; v++) sums[r][v] += sums[r][half + v];
    return NAMED(fold)(sums[0][0], sums[1][0], sums[2][0], sums[3][0]);
}

/* The dot products of `x` and ROWS rows, whose width is a multiple of that of the registers. */
INLINE void NAMED(dot_tile)(
    const int registers, const float *x, const float *y, ptrdiff_t stride, ptrdiff_t width,
    float *out) {
    floats sums[ROWS][REGISTERS];
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < registers; v++) sums[r][v] = splat(0);
    ptrdiff_t d = 0;
    do {
        for (int v = 0; v < registers; v++, d += WIDTH) {
            const floats mine = load(x + d);
            for (int r = 0; r < ROWS; r++)
                sums[r][v] = mul_add(mine, load(y + r * stride + d), sums[r][v]);
        }
    } while (d < width);
    const floats_4 totals = NAMED(fold_all)(registers, sums);
    memcpy(out, &totals, sizeof totals);
}

/* A dot product with fewer sums than a register holds. */
static float NAMED(dot_in_few)(const float *x, const float *y, ptrdiff_t width) {
    const ptrdiff_t partial = width & -width;
    float sums[PARTIAL] = {0};
    for (ptrdiff_t at = 0; at < width; at += partial)
        for (ptrdiff_t i = 0; i < partial; i++)
            sums[i] = mul_add_one(x[at + i], y[at + i], sums[i]);
    for (ptrdiff_t half = partial / 2; half; half /= 2)
        for (ptrdiff_t i = 0; i < half; i++) sums[i] += sums[half + i];
    return sums[0];
}

/* The scores of a query and `rows` keys of one block, rounded up to ROWS: those of a head `room`
numbers after those of the one before. Where PARTIAL doesn't divide the width, a score has as many
sums as the largest power of two that does. Fetches what the next call and `mix` will read. */
static void NAMED(score)(
    struct heads heads, const float *queries, const float *keys, ptrdiff_t rows, float *scores,
    ptrdiff_t room, struct ahead next, struct ahead values) {
#if WIDTH == 16
    if (heads.width % PARTIAL) {
        score_avx2(heads, queries, keys, rows, scores, room, next, values);
        return;
    }
#endif
    const ptrdiff_t width = heads.width, stride = heads.kv_heads * width;
    const ptrdiff_t tiles = (rows + ROWS - 1) / ROWS * heads.kv_heads;
    const ptrdiff_t share = (next.count + tiles - 1) / tiles;
    const ptrdiff_t values_share = (values.count + tiles - 1) / tiles;
    for (ptrdiff_t row = 0; row < rows; row += ROWS, keys += ROWS * stride) {
        const float *x = queries, *y = keys;
        float *out = scores + row;
        for (ptrdiff_t kv_head = 0; kv_head < heads.kv_heads; kv_head++, y += width) {
            next = NAMED(fetch)(next, share);
            values = NAMED(fetch)(values, values_share);
            for (ptrdiff_t head = 0; head < heads.group; head++, x += width, out += room)
                if (width % PARTIAL == 0)
                    NAMED(dot_tile)(REGISTERS, x, y, stride, width, out);
#if WIDTH < 16
                else if (width % 8 == 0)
                    NAMED(dot_tile)(8 / WIDTH, x, y, stride, width, out);
#endif
                else
                    for (int r = 0; r < ROWS; r++)
                        out[r] = NAMED(dot_in_few)(x, y + r * stride, width);
        }
    }
}

/* Replaces the scores from `first` to `end` by exp(scale * (score - highest)), and the others
before them, and after them up to a multiple of PARTIAL, by 0. Returns their sum. */
static float NAMED(soften)(float *scores, ptrdiff_t first, ptrdiff_t end, float scale) {
    const ptrdiff_t whole = (end + PARTIAL - 1) / PARTIAL * PARTIAL;
    for (ptrdiff_t at = 0; at < first; at++) scores[at] = -__builtin_inff();
    for (ptrdiff_t at = end; at < whole; at++) scores[at] = -__builtin_inff();
    floats most = splat(-__builtin_inff());
    for (ptrdiff_t at = 0; at < whole; at += WIDTH) most = larger(load(scores + at), most);
    float highest = most[0];
    for (int i = 1; i < WIDTH; i++) highest = most[i] > highest ? most[i] : highest;
    floats sums[ROWS][REGISTERS] = {{{0}}};
    for (ptrdiff_t at = 0; at < whole; at += PARTIAL)
        for (int v = 0; v < REGISTERS; v++) {
            float *place = scores + at + v * WIDTH;
            const floats mass = NAMED(exp_of)((load(place) - highest) * scale);
            store(place, mass);
            sums[0][v] += mass;
        }
    return NAMED(fold_all)(REGISTERS, sums)[0];
}

/* out[h, c] += x[h, k] * y[k, c] over k in order, for `heads` heads, one or two, that share keys
and values, and the columns of `registers`. */
INLINE void NAMED(add_columns)(
    const int heads, const int registers, const float *x, ptrdiff_t room, const float *y,
    ptrdiff_t stride, ptrdiff_t rows, float *out, ptrdiff_t width) {
    floats sums[2][8];
    for (int h = 0; h < heads; h++)
        for (int v = 0; v < registers; v++) sums[h][v] = load(out + h * width + v * WIDTH);
    for (ptrdiff_t k = 0; k < rows; k++, y += stride)
        for (int v = 0; v < registers; v++) {
            const floats value = load(y + v * WIDTH);
            for (int h = 0; h < heads; h++)
                sums[h][v] = mul_add(splat(x[h * room + k]), value, sums[h][v]);
        }
    for (int h = 0; h < heads; h++)
        for (int v = 0; v < registers; v++) store(out + h * width + v * WIDTH, sums[h][v]);
}

INLINE void NAMED(add_rows)(
    const int heads, const float *x, ptrdiff_t room, const float *y, ptrdiff_t stride,
    ptrdiff_t rows, float *out, ptrdiff_t width) {
    ptrdiff_t c = 0;
    for (; c + 8 / heads * WIDTH <= width; c += 8 / heads * WIDTH)
        NAMED(add_columns)(heads, 8 / heads, x, room, y + c, stride, rows, out + c, width);
    for (; c + 2 * WIDTH <= width; c += 2 * WIDTH)
        NAMED(add_columns)(heads, 2, x, room, y + c, stride, rows, out + c, width);
    for (; c + WIDTH <= width; c += WIDTH)
        NAMED(add_columns)(heads, 1, x, room, y + c, stride, rows, out + c, width);
    for (; c < width; c++)
        for (int h = 0; h < heads; h++)
            for (ptrdiff_t k = 0; k < rows; k++)
                out[h * width + c] =
                    mul_add_one(x[h * room + k], y[k * stride + c], out[h * width + c]);
}

/* Adds `rows` values of one block, each times its weight, to what the heads have mixed so far, and
fetches what is read next. */
static void NAMED(mix)(
    struct heads heads, const float *weights, ptrdiff_t room, const float *values, ptrdiff_t rows,
    float *out, struct ahead next) {
#if WIDTH == 16
    if (heads.width % WIDTH) {
        mix_avx2(heads, weights, room, values, rows, out, next);
        return;
    }
#endif
    const ptrdiff_t width = heads.width, stride = heads.kv_heads * width;
    const ptrdiff_t share = (next.count + heads.kv_heads - 1) / heads.kv_heads;
    for (ptrdiff_t kv_head = 0; kv_head < heads.kv_heads; kv_head++, values += width) {
        next = NAMED(fetch)(next, share);
        ptrdiff_t left = heads.group;
        for (; left >= 2; left -= 2, weights += 2 * room, out += 2 * width)
            NAMED(add_rows)(2, weights, room, values, stride, rows, out, width);
        for (; left; left--, weights += room, out += width)
            NAMED(add_rows)(1, weights, room, values, stride, rows, out, width);
    }
}

static void NAMED(divide)(float *numbers, ptrdiff_t width, float divisor) {
    for (ptrdiff_t d = 0; d < width; d++) numbers[d] /= divisor;
}

static const struct kernels NAMED(kernels) = {
    COLUMNS,       NAMED(multiply), NAMED(add_and_norm), NAMED(norm), NAMED(silu_multiply),
    NAMED(rotate), NAMED(score),    NAMED(soften),       NAMED(mix),  NAMED(divide),
    NAMED(exp),
};

#undef REGISTERS
#undef COLUMNS

#endif
