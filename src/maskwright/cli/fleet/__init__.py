"""The commands that serve with more than one server.

- `route`: The command `route`: serve several running servers at one address.
"""
