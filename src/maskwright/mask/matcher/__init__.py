"""The one mutable object of a request: tokens accepted so far, masks, forced tokens, events.

- `counting`: A matcher that also counts the tokens of texts whose number of tokens is limited.
- `forced`: Which tokens must come next.
- `matcher`: `Matcher`: accepts tokens and gives masks.
- `reader`: The events of a text, read off its way through a grammar.
- `token_counts`: Limits on the number of tokens in parts of a text.
"""
