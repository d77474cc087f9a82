"""Regular languages over characters: interned terms, their derivatives and automata.

A term is an expression with union, concatenation, bounded repeats, intersection and complement.
Equal terms are one object, so that whatever is computed for a language is shared by every grammar
that contains it. Automata are found lazily, by derivatives: a term is a state, and its derivative
by a character is the next one.

- `beginnings`: Simpler languages whose strings begin alike, and bounds on the way to an end.
- `byte_alphabet`: The bytes with which the characters of a language begin, and which it needs.
- `character_classes`: Sets of characters: their sizes, and the parts that several have in common.
- `character_dfa`: The DFA of a term, written out.
- `charset`: Sets of code points as sorted, disjoint, inclusive ranges that do not touch.
- `composed`: Short strings put together from the shortest strings of a term's parts.
- `derivative`: Derivatives of terms, and whether a language is empty, compiled.
- `enumerate`: The strings of a language one by one, the shortest first.
- `interned`: Objects that are alive, by key.
- `length_bounds`: Counted repeats as bounds on a string's length.
- `overlay`: Transitions by classes of characters, of one term and of several together, compiled.
- `shortest`: A shortest string of a language.
- `substrings`: The substrings of a document, with an automaton read off the document.
- `terms`: The terms and their constructors, compiled.
- `word_lists`: Lists of words as tries, and which terms are such lists.
"""
