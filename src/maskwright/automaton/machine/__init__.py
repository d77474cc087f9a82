"""The byte machine: leaf states over an interned stack of contexts, with its compiled half.

- `contexts`: The structural half of a grammar: where exits lead, and what completes a text.
- `exits`: What leaving a leaf leads to, and what that does to the stack of contexts.
- `machine`: The byte machine.
- `step`: The compiled half of the machine: its tables, and what is asked of them.
- `trace`: The machine step by step, in plain Python.
"""
