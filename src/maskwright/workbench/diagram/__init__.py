"""Pictures of a shape as SVG: railroad diagrams, and graphs of rules or states.

- `charts`: A directed graph in layers as SVG, and what all pictures share.
- `grammar_tracks`: The railroad diagrams of regular languages and of a grammar's rules.
- `pictures`: The pictures of each kind of shape: start reading here.
- `schema_tracks`: The railroad diagrams of a JSON Schema: the structure of its values.
- `tracks`: The parts of railroad diagrams.
"""
