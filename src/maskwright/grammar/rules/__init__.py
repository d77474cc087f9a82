"""Context-free grammars as a closed tree, into which every dialect, tag and tool is read.

A grammar is a mapping from names to expressions over terminals, JSON values, special tokens and
references. Before the machine is built, `fold` joins everything regular into single terminals and
turns recursion at the ends of a rule into loops; neither changes the language.

- `begins`: Checks where the number of tokens of a text can be bounded.
- `captures`: Moves captures of called rules into the start rule, where events can report them.
- `fold`: Joins the regular parts of rules into terminals, and recursion at their ends into loops.
- `tree`: The closed tree of rules.
"""
