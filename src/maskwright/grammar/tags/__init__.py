"""Structural tags: free text in which marked parts follow a grammar.

A tag comes as JSON, in the form that several serving engines take. `parse` reads it into a closed
tree of formats, `rules` turns that into the rules of a grammar.

- `free_text`: Text in which some strings must not occur, or that ends with the first of them.
- `node`: A JSON object of a tag, whose fields are asked for by name and kind.
- `parse`: From JSON to the tree of formats.
- `rules`: From the tree to rules.
- `token_bounds`: Where in a tag the number of tokens can be bounded.
- `tree`: The closed tree of formats.
"""
