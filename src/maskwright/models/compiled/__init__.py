"""The decoder's operations for one CPU thread and small models, compiled.

The order of every sum is fixed by the code: a product adds one number after the other, other sums
are several partial sums, added pairwise. So a row's bits do not depend on its neighbours.

- `attention`: Paged attention for small models on one CPU thread, compiled.
- `decoder`: The forward of `models/dense.py` in compiled operations.
- `product`: Matrix products with weights that were packed once.
- `rows`: What is done to one row after another.
- `tiles`: Sums of products over many numbers at once, for compiled loops.
"""
