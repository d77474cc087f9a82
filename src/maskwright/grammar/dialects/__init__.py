"""Reads grammars in Lark's syntax, GBNF and EBNF into rules, and writes rules in these dialects.

A grammar is read in two steps. The reader of its dialect (`lark`, `bnf`) makes a syntax tree, which
all dialects share (`syntax`). `lower` translates the tree into `Rules`, in which terminals are
regular languages that include the ignored text before them.

- `bnf`: The reader of GBNF and EBNF.
- `cursor`: A cursor over the text of a grammar, which reports faults with line and column.
- `detect`: Recognises the dialect of a grammar.
- `guidance_options`: The object `x-guidance` in the schema of a `%json`.
- `lark`: The reader of Lark's syntax, with the extensions of llguidance.
- `longest`: The language of a terminal's pattern with lazy quantifiers.
- `lower`: Translates the syntax tree into `Rules`.
- `read`: Reads a grammar in any dialect into `Rules`.
- `special`: Reads special tokens in grammars.
- `spelling`: Writes characters, classes, strings and patterns.
- `syntax`: The syntax tree that all dialects share.
- `write`: Writes rules as a grammar in one of the dialects.
"""
