"""The shortest end of a text from any configuration, and upper bounds on its length.

Four questions can be asked about the end of a text. *Is it possible?* Masks lead only to where it
is: `automaton.satisfy` and the live nodes of `automaton.rules` prune everything else. *In how many
ways?* `automaton.satisfy.solver` counts, up to a few, where values must be distinct. *What does it
cost at most?* The bounds here say so without a search. *Which text is it?* The completion search
here finds it, for the budgets that the bounds don't decide. What a string, a value of JSON or a
grammar still needs is asked of `grammar.regular.shortest`, `automaton.satisfy` and
`automaton.rules.completion`.

- `bounds`: Upper bounds on the tokens that complete a level of JSON, and on its parts.
- `completion`: The shortest text that completes a configuration: within its leaf, then its stack.
- `distinct_bounds`: Upper bounds in bytes on a value that is distinct from a number of others.
- `leaf_exits`: The labels with which a leaf can be left, each with a text that leads there.
- `levels`: The shortest text that completes a stack of levels of JSON.
"""
