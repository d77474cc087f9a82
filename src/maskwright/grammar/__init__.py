"""From text to closed typed trees and normal forms: schemas, patterns, grammars, tags, tools.

- `dialects/`: Grammars as text: Lark, GBNF and EBNF, read and written.
- `formats/`: The languages of JSON Schema's `format` keyword.
- `number/`: Numbers between bounds, and multiples, as regular languages over their spellings.
- `pattern/`: Regular expressions in ECMA-262's and Python's syntax, to a tree and to regular
  terms.
- `regular/`: Regular languages: sets of characters, hash-consed terms, derivatives, DFAs.
- `rules/`: Context-free grammars as a closed tree, into which every dialect, tag and tool is
  read.
- `schema/`: A JSON Schema document, parsed into a closed typed tree.
- `shape/`: The normal form of a schema: for each JSON type, what a value of it must look like.
- `tags/`: Structural tags: free text with marked parts that follow a grammar.
- `tools/`: Tools a model may call, and the formats in which families of models write calls.
"""
