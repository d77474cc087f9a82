"""The commands that serve with more than one server.

- `process_replica`: A server in a process of its own.
- `ray_cluster`: The Ray cluster of `serve --ray`, and servers in its actors.
- `replicas`: Several servers of one model after one address, for `serve --replicas` and `--ray`.
- `route`: The command `route`: serve several running servers at one address; roles of servers.
- `route_work`: What `route` does once its arguments are read.
"""
