"""Satisfiability: whether a conjunction of schemas has values, and a shortest one as a witness.

Masks must not lead into dead ends, so everything that is offered has been shown to lead on. The
solver asks cheap sufficient tests first: a quick check, then lower bounds on how many values there
are. What these leave open is decided by a search, which either finds a shortest value (or a
shortest completion of a container that has been read in part) or shows that there is none. Where
items must differ, or some two must be equal, the search has a part of its own.

- `counted_parts`: Items and members where only the number matters, which are counted, not walked.
- `distinct`: A completion of an array whose items must all differ, or some two be equal.
- `quick`: A cheap sufficient test, which most schemas pass.
- `schema_values`: What is known of a schema's values without a search.
- `search`: Shortest completions of arrays and objects, by uniform-cost search.
- `shortest`: The shortest value of each conjunction, improved in sweeps until it is settled.
- `solver`: The package's entry point: what is satisfiable, and which options can be completed.
"""
