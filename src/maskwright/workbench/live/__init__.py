"""What is asked while somebody writes: quick answers about a shape that changes.

- `kept`: The grammars that were last compiled.
- `questions`: Whether a shape can be used, texts of it, and its picture.
"""
