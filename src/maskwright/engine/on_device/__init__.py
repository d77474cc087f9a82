"""Several decode steps in a row on the device, without the host between them.

The automaton of a request's grammar lies there as a table of states: which mask a state has, and to
which state a token leads. docs/engine.md explains when it is used.

- `automata`: The tables of the grammars in use, made in the background.
- `automaton`: The token-level automaton of a grammar as a compact table.
- `decode`: The steps: forward, draw and the way to the next state, over buffers of fixed size.
- `recorded`: The same steps as graphs that are recorded once and replayed.
- `resident`: The tables that stay on the device.
- `steps`: Whether the next steps can be computed in a row, and what they need.
"""
