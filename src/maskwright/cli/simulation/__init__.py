"""The commands that simulate clusters. They need no model.

- `place`: The command `place`: parallelism and numbers of instances for a load.
- `simulate`: The command `simulate`: a cluster under a load.
"""
