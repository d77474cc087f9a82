"""The commands that measure: `maskwright bench`, `maskwright bench serve`.

- `client`: Clients that send each request at its time, and how the requests of one rate ended.
- `engines`: Engines that compute masks, with one interface: this one, and others if installed.
- `serve`: The command `bench serve`: measure a running server under load.
- `serve_work`: What `bench serve` does once its arguments are read.
- `shape`: The command `bench`: measure what a shape costs on this machine.
- `shape_work`: What `bench` does once its arguments are read.
- `traffic`: Which requests are sent, and when.
"""
