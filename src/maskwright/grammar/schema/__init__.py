"""A JSON Schema document, parsed into a closed typed tree.

- `document`: A schema document as a JSON value.
- `drafts`: The drafts of JSON Schema.
- `keys`: How schemas are written, as bytes.
- `order`: The order in which a schema names its properties, as its reader sees it.
- `parse`: From a JSON Schema document to the closed tree of `grammar.schema`.
- `references`: Where references lead.
- `tree`: JSON Schema as a closed tree.
- `vocabularies`: Which keywords hold in a schema.
"""
