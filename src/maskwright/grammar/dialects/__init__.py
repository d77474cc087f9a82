"""Grammars as text: Lark, GBNF and EBNF, read and written.

- `bnf`: Grammars in Backus-Naur form.
- `cursor`: The text of a grammar while it is read.
- `detect`: Which dialect a grammar is written in.
- `ignored`: Terminals behind text that is ignored, as one regular language.
- `lark`: Grammars in Lark's language, as Lark has it and as llguidance has extended it.
- `lark_expressions`: The right-hand sides of Lark's rules and terminals.
- `longest`: Where a terminal's pattern ends.
- `lower`: From a grammar as it is written to `Rules`.
- `read`: A grammar's text, in any dialect, to `Rules`.
- `special`: Special tokens in grammars.
- `spelling`: Characters, classes, strings and patterns as the dialects spell them.
- `syntax`: A grammar as it is written, in any of the dialects.
- `write`: Rules written as a grammar in one of the dialects.
"""
