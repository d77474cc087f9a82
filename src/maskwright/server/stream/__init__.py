"""What a stream waits for: new output, and a client that reads.

- `arrivals`: Deltas of the generations of one request, as they come.
- `pace`: How often streams are written to.
- `timer`: A timer for what nearly always ends in time.
"""
