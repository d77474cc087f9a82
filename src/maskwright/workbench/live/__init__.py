"""What is asked while somebody writes: quick answers about a shape that changes.

- `checked`: Whether a shape can be used, and what is found in it, each with its place.
- `drawn`: The picture of a shape.
- `faults`: Where in the text of a shape an error is.
- `kept`: The grammars that were last compiled.
- `sampled`: Texts of a shape.
"""
