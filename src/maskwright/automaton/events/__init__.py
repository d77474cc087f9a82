"""What a text contains, read off the machine's steps: values, containers, strings and captures.

There is no second parser: the machine says which leaves and contexts a text leaves, and where. From
these steps follow the events of JSON values and of captures, independently of how the text is cut
into tokens. An event is reported as soon as it is certain.

- `captures`: Events of captures, by the readings of a grammar that are still possible.
- `events`: The types of events.
- `json`: Events of a JSON value, by the levels that its text enters and leaves.
"""
