"""The decoder's operations for small models on one CPU thread, compiled.

The code fixes the order of every sum: products add one number after another, and other sums consist
of partial sums that are added pairwise. So the bits of a row do not depend on the other rows.

- `attention`: Paged attention for small models on one CPU thread, compiled.
- `decoder`: The forward of `models/dense.py` in compiled operations.
- `layers`: All layers of a decoder in one compiled call.
- `product`: Matrix products with weights that were packed once.
- `rows`: Operations on one row after another: norm, activation, exponentials.
- `tiles`: Sums of products over many numbers at once, for compiled loops.
"""
