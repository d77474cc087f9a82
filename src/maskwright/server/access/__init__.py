"""Who may send requests, how many, and whether any are let in at all.

- `drain`: Whether the server still takes new requests.
- `keys`: The keys of clients: a file with their digests, and the search for a key.
- `rates`: The rates and quotas of one key.
"""
