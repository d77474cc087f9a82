"""What is likely to be a mistake, in shapes of every kind.

- `finding`: Something found in a shape, with its place and weight; what rules ask of texts.
- `fixes`: What can be mended in a schema or a grammar without being asked back.
- `grammar`: What is found in a grammar or a pattern that can be used.
"""
