r"""Regular expressions in the syntax of ECMA-262 or of Python's `re`, as regular languages.

`parse` gives a tree, `translate` a term of `grammar/regular/`. Anchors and lookaround have no
counterpart in a term by themselves: `translate` turns each into an intersection with the language
of what may come before or after its position.

- `characters`: Unicode properties for `\p{…}`, and sets closed under differences of case.
- `cursor`: A place in a text, and counts, for readers of patterns and of grammars.
- `flags`: The two syntaxes, and what their flags change.
- `parse`: From a pattern's text to its tree.
- `translate`: From the tree to a regular language.
- `tree`: The closed tree of a pattern, and the sets of characters that its escapes mean.
"""
