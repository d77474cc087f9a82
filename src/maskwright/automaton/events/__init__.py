"""What a text contains, read off the machine's steps: values, containers, strings and captures.

- `captures`: Events of captures, from the leaves that a text leaves.
- `events`: Typed events.
- `json`: Events of a JSON value, from the leaves that its text leaves.
"""
