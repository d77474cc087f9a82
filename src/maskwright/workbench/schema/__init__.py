"""What is to be said of a schema itself, without a text.

- `explain`: What is done with each keyword of a schema.
- `fixes`: What can be mended in a schema without being asked back.
- `lint`: What is likely to be a mistake in a schema that can be used.
- `profiles`: The rules that other services have for schemas.
- `solved_parts`: Whether values match the parts of a schema.
- `variants`: The schemas of a shape, and the shape compiled with changed ones.
"""
