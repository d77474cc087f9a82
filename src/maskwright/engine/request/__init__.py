"""One request: what is asked, its state between tokens, its text as it is emitted, its trace.

- `active`: A running request: its matcher, its tokens and the end it comes to.
- `drafts`: Drafts looked up in the request's own text (prompt lookup).
- `emission`: From sampled tokens to text that is safe to send.
- `generation`: The client's end of a request: deltas to read, and cancelling.
- `request`: What a client asks of the engine, and what it gets.
- `stops`: Stop strings as one automaton over characters (Aho and Corasick, CACM 1975).
- `trace`: The times and counts of one request.
"""
