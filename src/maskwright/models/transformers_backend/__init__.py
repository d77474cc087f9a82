"""Models of the transformers library, run on our key/value pool.

- `attention`: How the library's models call attention, and where this call leads: one pool of keys
  and values, which layers of different shapes share.
- `decoder`: A model of the transformers library that reads its keys and values from a paged pool.
- `guard`: Which models of the transformers library can read a paged pool.
- `load`: Loads a checkpoint as a model of the transformers library, after guard and self-check.
- `self_check`: Compares the paged model with the original once, when it is loaded.
"""
