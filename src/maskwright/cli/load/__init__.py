"""Load on a running server, and what it makes of it: `maskwright bench serve`.

- `client`: Clients that come when they come, whether or not those before have been served.
- `picture`: The operating envelope as a picture.
- `point`: One point of the operating envelope.
- `shapes`: What load asks answers to be like, and whether they are.
- `traffic`: Which requests come when.
"""
