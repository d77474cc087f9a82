"""Regular languages: sets of characters, hash-consed terms, derivatives, DFAs.

- `byte_alphabet`: The bytes with which the characters of a language begin, as one int.
- `character_classes`: Transitions by sets of characters.
- `character_dfa`: The automaton of a term written out.
- `charset`: Sets of Unicode code points as sorted, disjoint, non-adjacent inclusive ranges.
- `derivative`: From terms to automata.
- `enumerate`: The strings of a regular language one by one, the shortest first.
- `length_bounds`: Counted repeats as length bounds.
- `parallel`: Texts read side by side, as a leaf of a grammar reads them.
- `shortest`: A shortest string of a regular language.
- `substrings`: The substrings of a document, as a regular language whose automaton is read off
  the document.
- `terms`: Regular languages over code points.
- `word_lists`: Lists of words as tries, and which terms are nothing but such lists.
"""
