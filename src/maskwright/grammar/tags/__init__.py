"""Structural tags: free text in which marked parts follow a grammar.

A tag is a JSON document, in the form that several serving engines accept. `parse` reads it into a
closed tree of formats, which `rules` translates into the rules of a grammar.

- `free_text`: Languages of texts in which strings must not occur, or that end with one of them.
- `parse`: Reads JSON into the tree of formats.
- `rules`: Translates the tree into rules.
- `tree`: The closed tree of formats.
"""
