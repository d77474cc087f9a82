"""The commands that measure: `maskwright bench`, `maskwright bench serve`.

- `client`: Clients that send each request at its time, and how the requests of one rate ended.
- `engines`: Engines that compute masks, with one interface: this one, and others if installed.
- `options`: The options of both.
- `serve`: The command `bench serve`: measure a running server under load.
- `shape`: The command `bench`: measure what a shape costs on this machine.
- `traffic`: Which requests are sent, and when.
"""
