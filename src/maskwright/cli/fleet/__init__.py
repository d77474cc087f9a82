"""The commands that serve with more than one server.

- `replicas`: Several servers of one model on this machine, for `serve --replicas`.
- `roles`: Which servers compute prompts, and which answer.
- `route`: The command `route`: serve several running servers at one address.
"""
