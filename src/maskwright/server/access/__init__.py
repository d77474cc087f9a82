"""Who may send requests, and how many.

- `keys`: The keys of clients: a file with their digests, and the search for a key.
- `rates`: The rates and quotas of one key.
"""
