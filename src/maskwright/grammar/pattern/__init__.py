r"""Regular expressions in ECMA-262's and Python's syntax, to a tree and to regular terms.

- `casing`: Which characters are the same but for their case, and sets of characters closed under
  that.
- `classes`: Character sets in a pattern.
- `cursor`: The text of a pattern while it is read.
- `flags`: The two syntaxes of regular expressions that are read, and what their flags change.
- `parse`: Regular expressions, in the syntax of ECMA-262 or of Python's `re`, to the tree of
  `pattern`.
- `translate`: From a parsed pattern to a `Regular`.
- `tree`: Regular expressions as a closed tree, and the character sets that their escapes stand
  for.
- `unicode`: Unicode properties for `\p{…}`, by the names that ECMA-262 gives them.
"""
