"""Matchers, the only mutable objects of a request: accepted tokens, masks, forced tokens, events.

- `counting`: A matcher for grammars that bound the number of tokens of a text, and the bounds.
- `matcher`: `Matcher`: accepts tokens, gives masks and forced tokens, reports the events of a text.
- `protocol`: What a server and an engine need of a grammar, wherever it lives.
"""
