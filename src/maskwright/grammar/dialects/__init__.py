"""Grammars as text, in Lark's syntax, GBNF and EBNF: read into rules, and written from them.

A dialect is read in two steps. Its reader (`lark`, `bnf`) gives one syntax tree for all dialects
(`syntax`); `lower` turns that into `Rules`, in which terminals are regular languages and ignored
text has become part of the terminals.

- `bnf`: The reader of GBNF and EBNF.
- `cursor`: A cursor over the text of a grammar, which reports faults with line and column.
- `detect`: Which dialect a grammar is written in.
- `ignored`: Terminals together with the ignored text before them, as one regular language.
- `lark`: The reader of Lark's syntax, with the extensions of llguidance.
- `lark_expressions`: The right-hand sides of Lark's rules and terminals.
- `longest`: Where a terminal's pattern ends: lazy quantifiers and assertions at its ends.
- `lower`: From the syntax tree to `Rules`.
- `read`: The way in: a grammar's text, in any dialect, to `Rules`.
- `special`: Special tokens in grammars.
- `spelling`: How the dialects spell characters, classes, strings and patterns.
- `syntax`: The syntax tree that all dialects share.
- `write`: The way out: rules as a grammar in one of the dialects.
"""
