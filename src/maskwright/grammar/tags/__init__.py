"""Structural tags: free text with marked parts that follow a grammar.

- `free_text`: Text in which some strings must not stand, or that ends with the first of them.
- `node`: An object of a structural tag as JSON, whose fields are asked for by name and kind.
- `parse`: Reading a structural tag.
- `rules`: From structural tags to rules.
- `token_bounds`: Where in a structural tag a text may be bounded by a number of tokens.
- `tree`: Structural tags as a closed tree.
"""
