"""Byte automata of regular languages (leaves), built lazily and shared by all grammars.

The languages of a grammar (patterns, names, texts) are regular expressions over characters. A leaf
is the deterministic automaton of one of them over bytes: UTF-8 in plain text, and escapes as well
inside a JSON string. A state is built when it is first reached, and equal states are one, so all
grammars with a vocabulary share what has been built.

- `character_arrays`: Automata over characters as the compiled code reads them.
- `characters`: Characters of a term that have been begun.
- `keys`: What leaf states stand for, and when a leaf of several texts is left.
- `rows`: The rows of leaf states.
- `special_tokens`: How the machine spells special tokens, which no text spells.
- `spelling`: How characters are spelled byte by byte.
- `table`: The leaf table: the states, and how their rows are built.
"""
