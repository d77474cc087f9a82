"""The decoder's operations for one CPU thread and small models, compiled.

Every sum has its order written down: in a product one number after the other, elsewhere in lanes
that are added by halves. So a row's bits can't depend on what is computed beside it.

- `attention`: Paged attention for small models on one CPU thread, compiled.
- `decoder`: The forward of `models/dense.py` in compiled operations.
- `product`: Matrix products with weights that were packed once.
- `rows`: What is done to one row after another.
- `tiles`: Sums of products over many numbers at once, for compiled loops.
"""
