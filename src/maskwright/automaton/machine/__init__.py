"""The byte machine: leaf states over an interned stack of contexts, with its compiled half.

- `addresses`: The arrays that compiled code reads, behind one address.
- `arrays`: The arrays and registers of a machine, by name.
- `exits`: What leaving a leaf leads to, and what that does to the stack of contexts.
- `hash_tables`: The hash tables of a machine, written anew where they have grown.
- `machine`: The byte machine.
- `step`: The compiled half of the machine.
- `trace`: The machine step by step, in plain Python.
"""
