"""The one mutable object of a request: tokens accepted so far, masks, forced tokens, events.

- `counting`: A matcher that also counts the tokens of texts that may have only so many.
- `forced`: Forced tokens.
- `matcher`: The one mutable object of a request.
- `reader`: Reads events off a text's way through a grammar.
- `token_counts`: Texts that may have so many tokens.
"""
