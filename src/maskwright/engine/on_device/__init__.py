"""Decode steps that the device computes by itself, without the host between them.

The automaton of a request's grammar lies there as a table of states: which mask a state has, and to
which state a token leads. docs/engine.md explains when it is used.

- `automata`: The tables of the grammars in use, made in the background.
- `automaton`: The token-level automaton of a grammar as a compact table.
- `decode`: The steps: forward, draw and the way to the next state, over buffers of fixed size.
- `recorded`: The same steps as graphs that are recorded once and replayed.
- `resident`: The tables that stay on the device.
- `steps`: Whether the device can compute the next steps by itself, and what they need.
"""
