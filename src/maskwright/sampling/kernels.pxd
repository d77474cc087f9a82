from libc.stdint cimport int32_t, uint32_t, uint64_t

cdef extern from "instructions.h":
    pass

cdef extern from "sampling/kernels.h":
    enum:
        BLOCK
        COUNTERS
        ROUNDS

    struct kernels:
        int (*find_peaks)(
            const float *logits, Py_ssize_t size, const int32_t *words, float *peaks
        ) noexcept nogil
        void (*philox)(
            const uint64_t *keys, const uint32_t *counter, uint32_t *out
        ) noexcept nogil
        uint64_t (*at_most)(const uint32_t *words, uint32_t limit) noexcept nogil
        void (*scale)(
            const float *logits, Py_ssize_t size, const int32_t *words, float highest,
            float temperature, float *out
        ) noexcept nogil
        void (*exponentials)(
            const float *numbers, Py_ssize_t count, double highest, double *out
        ) noexcept nogil
        void (*highest)(
            const float *numbers, Py_ssize_t count, uint32_t word, float *out
        ) noexcept nogil
        void (*masses)(
            const float *numbers, Py_ssize_t count, const int32_t *words, double highest,
            double *out
        ) noexcept nogil

    const kernels *const KERNEL_SETS[]
    void keys_of(uint64_t seed, uint64_t *keys) noexcept nogil
