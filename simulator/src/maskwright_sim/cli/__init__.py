"""The commands that simulate clusters. They need no model.

- `place`: The command `place`: parallelism and numbers of instances for a load.
- `place_work`: What `place` does once its arguments are read.
- `simulate`: The command `simulate`: a cluster under a load.
- `simulate_work`: What `simulate` does once its arguments are read.
"""
