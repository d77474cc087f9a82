"""The decoder's operations for small models on a CPU, compiled.

The code fixes the order of every sum: products add one number after another, and other sums consist
of partial sums that are added pairwise. So the bits of a row do not depend on the other rows.

- `decoder`: The forward of `models/dense.py` in compiled operations.
- `layers`: The operations, and all layers in one compiled call, whose rows several threads share
  (Cython; vectors in `kernels.h`, threads in `thread_pool.h`).
"""
