"""What is to be said of a schema itself, without a text.

- `explain`: What is done with each keyword of a schema.
- `lint`: What is likely to be a mistake in a schema, and the rules of other services.
- `no_values`: The part of a schema that keeps values from matching the whole.
- `tool_variants`: The parameters of tools, and tools compiled with changed ones.
- `variants`: The schemas of a shape, and the shape compiled with changed ones.
"""
