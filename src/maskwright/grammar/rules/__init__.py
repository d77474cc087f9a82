"""Context-free grammars as a closed tree, into which every dialect, tag and tool is read.

A grammar is a mapping from names to expressions over terminals, JSON values, special tokens and
references. Before the machine is built, `fold` joins everything regular into single terminals and
`recursion` turns recursion at the ends of a rule into loops; neither changes the language.

- `captures`: Captures of called rules, written out where an event can report them.
- `fold`: Regular parts of rules joined into one terminal.
- `recursion`: Left and right recursion as loops.
- `tree`: The closed tree of rules.
"""
