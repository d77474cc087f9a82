"""Tables that grammars over one vocabulary share.

- `known_tools`: Arguments of tools that have been compiled before.
- `leaf_bounds`: Tokens that can certainly complete a text.
- `machine`: What grammars of one kind share.
- `vocabulary_tables`: What all grammars over one vocabulary share.
"""
