"""Load on a running server, and how the server copes with it: `maskwright bench serve`.

- `client`: Clients that send each request at its time, and how the requests of one rate ended.
- `traffic`: Which requests are sent, and when.
"""
