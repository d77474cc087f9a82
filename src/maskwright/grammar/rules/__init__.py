"""Context-free grammars as a closed tree, into which every dialect, tag and tool is read.

- `captures`: Captures of rules that others call, moved into the start rule.
- `fold`: Parts of a grammar that are regular, each as one terminal.
- `recursion`: Rules that call themselves at an end of their alternatives, as repetitions.
- `tree`: Context-free grammars as a closed tree.
"""
