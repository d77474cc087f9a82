"""Shapes themselves, as people write them: whether they can be used, texts of them, examples.

- `given_shape`: The text of a shape, as in a file, as the shape of a request.
- `shape_routes`: The endpoints.
"""
