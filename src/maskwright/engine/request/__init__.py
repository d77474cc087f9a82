"""One request: its generations, its text as it is emitted, stop strings and trace.

- `active`: A request at work.
- `drafts`: Drafts by looking back.
- `emission`: From sampled tokens to text that is safe to send.
- `generation`: The client's end of a request.
- `request`: What a client asks of the engine, and what it gets.
- `stops`: Stop strings as one automaton over characters (Aho and Corasick, CACM 1975).
- `trace`: The life of one request in numbers.
"""
