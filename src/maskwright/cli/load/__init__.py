"""Load on a running server, and how the server copes with it: `maskwright bench serve`.

- `client`: Clients that send each request at its time, however many are still unanswered.
- `point`: One point of the operating envelope.
- `traffic`: Which requests are sent, and when.
"""
