"""One request: its parameters, its state between tokens, its text, its trace.

- `active`: A running request: its matcher, its masks, its text and its end.
- `drafts`: Drafts looked up in the request's own text (prompt lookup).
- `emission`: From sampled tokens to text that is safe to send.
- `generation`: The client's side of a request: deltas to read, and cancelling.
- `mailbox`: What a request has published and its reader has not taken yet.
- `progress`: What a running request notes in each step.
- `request`: The request of a client, and the deltas and completion that it receives.
- `row`: What most requests do in most steps: take one token that asks for nothing rare.
- `stops`: Stop strings as one automaton over characters (Aho and Corasick, CACM 1975).
- `trace`: The times and counts of one request.
- `wake_ups`: Calls into an event loop; many of them share one wake-up.
"""
